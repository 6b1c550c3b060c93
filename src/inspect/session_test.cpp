#include "inspect/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inspect/small_session.h"

namespace limpid {
namespace {

TEST(Session, ALabelThatIsNotThereIsAnError) {
  for (const std::string& name : small_config_names()) {
    const SmallSession small(name);
    const auto labels = static_cast<int32_t>(small.session.config().labels.size());
    if (labels == 0) continue;
    EXPECT_EQ(small.session.piece(labels - 1), small.session.config().labels.back());
    EXPECT_THROW(small.session.piece(labels), Error);
    EXPECT_THROW(small.session.piece(-1), Error);
    return;
  }
  ADD_FAILURE() << "no small model has labels";
}

TEST(Session, WithoutTokenizersATextIsAnError) {
  SmallSession small("gpt2");
  small.session.loaded.tokenizers = {};
  EXPECT_THROW(small.example(), Error);
  EXPECT_THROW(small.session.piece(3), Error);
}

}  // namespace
}  // namespace limpid
