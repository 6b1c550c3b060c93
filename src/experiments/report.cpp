#include "experiments/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "experiments/list.h"
#include "experiments/result.h"
#include "experiments/verdict.h"
#include "formats/model_folder.h"
#include "inspect/svg_text.h"

namespace limpid {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Limpid: experiments</title><style>
body{font:16px/1.6 system-ui,"Noto Sans KR","Apple SD Gothic Neo","Malgun Gothic",sans-serif;color:#1a1a1a;background:#fff;margin:0}
main{max-width:920px;margin:0 auto;padding:16px}
h1{font-size:1.7rem;line-height:1.25}h2{font-size:1.3rem;line-height:1.3;margin-top:2.6rem;border-top:1px solid #ddd;padding-top:1.4rem}
html[lang=en] .ko,html[lang=ko] .en{display:none}
.languages{text-align:right;margin:0}.languages button{font:inherit;border:1px solid #767676;background:#fff;color:#1a1a1a;padding:4px 10px;border-radius:4px;cursor:pointer}
html[lang=en] #en,html[lang=ko] #ko{background:#1a1a1a;color:#fff}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;margin:.6rem 0}
th,td{text-align:left;vertical-align:top;padding:4px 12px 4px 0;border-bottom:1px solid #e4e4e4}
section td:first-child{min-width:9rem}.measures td:nth-child(2),.measures td:nth-child(4){white-space:nowrap}
caption{text-align:left;font-weight:600}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,400px),1fr));gap:8px 24px;margin:1rem 0;align-items:end}
figure{margin:0}figure svg{width:100%;height:auto}.figures>:only-child{max-width:560px}.wide{grid-column:1/-1;overflow-x:auto}.wide svg{min-width:640px}figcaption{font-weight:600;font-size:.9rem;line-height:1.35}
.index td:last-child,.whole{white-space:nowrap}.number{display:block;font-size:.85rem;color:#555}.narrow{display:none;color:#555}
@media(max-width:640px){.narrow{display:inline}.index tr{display:grid;grid-template-columns:2rem 1fr;padding:6px 0;border-bottom:1px solid #e4e4e4}
.index td{border:0;padding:2px 0}.index td:last-child{grid-column:2}.measures tr{display:flex;flex-wrap:wrap;gap:0 14px;border-bottom:1px solid #e4e4e4;padding:6px 0}
.measures tr:first-child{display:none}.measures td{border:0;padding:0}.measures td:first-child{flex-basis:100%}}
.verdict{display:inline-block;padding:2px 10px;border-radius:4px;font-weight:600;border:1px solid currentColor}
.holds{color:#00664f}.part{color:#7a5200}.fails{color:#a03000}.undecided{color:#555}
pre{background:#f4f4f4;padding:8px 12px;overflow-x:auto;font-size:.85rem}
dt{font-weight:600;margin-top:.5rem}dd{margin:0}
</style></head><body><main>
<p class="languages"><button id="en" onclick="document.documentElement.lang='en'">English</button>
<button id="ko" onclick="document.documentElement.lang='ko'">한국어</button></p>
<script>if (navigator.language.startsWith("ko")) document.documentElement.lang = "ko";</script>
)";

const char* style_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds: return "holds";
    case Verdict::holds_in_part: return "part";
    case Verdict::fails_here: return "fails";
    case Verdict::undecided: break;
  }
  return "undecided";
}

std::string both(const Words& words, const char* tag = "span") {
  return fmt::format("<{0} class=\"en\">{1}</{0}><{0} class=\"ko\" lang=\"ko\">{2}</{0}>", tag,
                     svg_escaped(words.english), svg_escaped(words.korean));
}

std::string verdict_text(const Json& result) {
  const Verdict verdict = judge(result);
  std::string text = fmt::format("<span class=\"verdict {}\">{}</span>", style_of(verdict), both(words_of(verdict)));
  if (is_provisional(result)) text += " " + both({"provisional", "잠정"});
  return text;
}

std::string must_text(const Measure& measure) {
  return fmt::format("{} {:g}", measure.must == Measure::Must::at_least ? "≥" : "≤", measure.threshold);
}

// One row for a measure: what it is, what it must be, what it was, and what it was in the contrary run. A narrow screen
// has no room for the names of the columns: they stand before the numbers there.
std::string measure_row(const Measure& measure, const Words& kind, const Json& result, const Json* contrary) {
  const Json json = measure_json(measure);
  const PartVerdict part = judge_part(result, json);
  const auto narrow = [](const Words& name) { return "<span class=\"narrow\">" + both(name) + " </span>"; };
  return fmt::format("<tr><td>{}{}</td><td>{}{}</td><td>{}{}</td><td>{}{}</td><td>{}</td></tr>\n",
                     both(measure.meaning), *kind.english ? " <b>" + both(kind) + "</b>" : "",
                     narrow({"must be", "기준"}), must_text(measure), narrow({"is", "측정값"}), spread_text(part),
                     part.mark(), part.seeds > 0 ? fmt::format(" {} / {}", part.passed, part.seeds) : "",
                     contrary ? narrow({"contrary", "반대 실험"}) + spread_text(judge_part(*contrary, json)) : "");
}

std::string measures(const Experiment& experiment, const Json& result, const Json* contrary) {
  std::string html = "<div class=\"scroll measures\"><table><tr><th>" + both({"number", "수치"}) + "</th><th>" +
                     both({"must be", "기준"}) + "</th><th>" +
                     both({"measured (spread over seeds)", "측정값 (시드 간 범위)"}) + "</th><th>" +
                     both({"passes", "통과"}) + "</th><th>" + both({"contrary", "반대 실험"}) + "</th></tr>\n";
  if (experiment.baseline) html += measure_row(*experiment.baseline, {"baseline", "기준 모델"}, result, contrary);
  for (const Measure& part : experiment.parts)
    html += measure_row(part, part.main ? Words{"main", "주된 부분"} : Words{}, result, contrary);
  return html + "</table></div>\n";
}

std::string table_html(const Table& table) {
  std::string html = "<div class=\"scroll\"><table><caption>" + svg_escaped(table.caption) + "</caption><tr>";
  for (const std::string& column : table.columns) html += "<th>" + svg_escaped(column) + "</th>";
  html += "</tr>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (const std::string& cell : row)
      html += (cell.ends_with(" %") ? "<td class=\"whole\">" : "<td>") + svg_escaped(cell) + "</td>";
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

std::string drawings(const Experiment& experiment, const Json& result, Language language) {
  std::string html = language == Language::korean ? "<div class=\"ko\" lang=\"ko\">\n" : "<div class=\"en\">\n";
  std::vector<Figure> figures = figures_of(experiment, result, language);
  if (!figures.empty()) {
    html += "<div class=\"figures\">\n";
    for (Figure& figure : figures) {
      // Two stand side by side, and one fills a phone with its letters still legible; the title is text that wraps.
      const std::string title = std::exchange(figure.chart.title, {});
      figure.chart.width = 340;
      figure.chart.height = 220;
      const std::string svg = figure_svg(figure);
      html += figure.svg.empty() ? "<figure>" : "<figure class=\"wide\">";
      for (const std::string& caption : {title, figure.caption})
        if (!caption.empty()) html += "<figcaption>" + svg_escaped(caption) + "</figcaption>";
      html += svg.substr(svg.find("<svg")) + "</figure>\n";
    }
    html += "</div>\n";
  }
  for (const Table& table : tables_of(experiment, result, language)) html += table_html(table);
  return html + "</div>\n";
}

std::string commands(const Experiment& experiment, const Json& result) {
  std::string html = "<pre>";
  for (const std::string& command : commands_of(experiment, result)) html += svg_escaped(command) + "\n";
  return html + "</pre>\n";
}

// Where our result disagrees with the claim: the parts that failed, and what that means.
std::string disagreements(const Experiment& experiment, const Json& result) {
  std::string html;
  for (const Measure& part : experiment.parts) {
    const PartVerdict verdict = judge_part(result, measure_json(part));
    if (verdict.seeds == 0 || verdict.holds()) continue;
    const auto say = [&](Language language, const char* format) {
      return fmt::format(fmt::runtime(format), part.meaning.in(language), spread_text(verdict), verdict.passed,
                         verdict.seeds, part.otherwise.in(language));
    };
    const std::string english = say(Language::english, "{}: {}, which passes in {} of {} seeds. {}");
    const std::string korean = say(Language::korean, "{}: {}, {}/{} 시드에서 통과. {}");
    html += "<li>" + both({english.c_str(), korean.c_str()}) + "</li>\n";
  }
  if (html.empty()) return html;
  return "<p><b>" + both({"Where our result disagrees", "우리 결과가 주장과 다른 곳"}) + "</b></p><ul>\n" + html +
         "</ul>\n";
}

// What was planted, and that the main part then passes.
std::string planted_text(const Experiment& experiment, const Json& planted) {
  const PartVerdict main = judge_main_part(planted);
  return "<p><b>" + both({"Planted effect: ", "심은 효과: "}) + "</b>" + both(experiment.planted) + " " +
         both({"The main number is then ", "그러면 주된 수치는 "}) +
         fmt::format("{}, {} {} / {}</p>\n", spread_text(main), main.mark(), main.passed, main.seeds);
}

std::string section(const Experiment& experiment, const Json& result, const Json* contrary, const Json* planted) {
  std::string html = fmt::format("<section id=\"{}\"><h2>{}. {}</h2>\n<p>{}</p>\n", experiment.name, experiment.number,
                                 both(experiment.title), verdict_text(result));
  const std::pair<Words, Words> texts[] = {{{"Claim", "주장"}, experiment.claim},
                                           {{"Origin", "출처"}, experiment.origin},
                                           {{"Method", "방법"}, experiment.method},
                                           {{"Reported elsewhere", "다른 곳의 보고"}, experiment.reported},
                                           {{"Contrary run", "반대 실험"}, experiment.contrary}};
  html += "<dl>\n";
  for (const auto& [name, text] : texts) html += "<dt>" + both(name) + "</dt><dd>" + both(text) + "</dd>\n";
  html += "</dl>\n" + measures(experiment, result, contrary) + disagreements(experiment, result);
  if (contrary)
    html += "<p>" + both({"Verdict of the contrary run: ", "반대 실험의 판정: "}) + verdict_text(*contrary) + "</p>\n";
  if (planted) html += planted_text(experiment, *planted);
  for (const Language language : {Language::english, Language::korean}) html += drawings(experiment, result, language);
  return html + commands(experiment, result) +
         fmt::format("<p>{} {:.0f} s, Limpid {}</p></section>\n", both({"Processor time", "프로세서 시간"}),
                     result.at("processor_seconds").get<double>(), result.at("version").get<std::string>());
}

}  // namespace

namespace {

// Whether every seed has what these units measured.
bool has_units(const Experiment& experiment, const Json& result) {
  for (const Json& seed : result.at("seeds"))
    if (!seed.contains("units") || !seed.at("units").is_object() || seed.at("units").empty()) return false;
  return experiment.figures || experiment.tables;
}

// Drawings read what units measured wherever they need it; a file may have come from elsewhere and hold other units.
template <class Drawings>
Drawings drawn(const std::function<Drawings()>& draw) {
  try {
    return draw();
  } catch (const Json::exception&) {
    return {};
  }
}

}  // namespace

std::vector<Figure> figures_of(const Experiment& experiment, const Json& result, Language language) {
  if (!has_units(experiment, result) || !experiment.figures) return {};
  return drawn<std::vector<Figure>>([&] { return experiment.figures(result, language); });
}

std::vector<Table> tables_of(const Experiment& experiment, const Json& result, Language language) {
  if (!has_units(experiment, result) || !experiment.tables) return {};
  return drawn<std::vector<Table>>([&] { return experiment.tables(result, language); });
}

std::vector<std::string> commands_of(const Experiment& experiment, const Json& result) {
  const std::string size = result.at("size") == "quick" ? " --quick" : result.at("size") == "tiny" ? " --tiny" : "";
  const std::string seeds = experiment.counted ? "" : fmt::format(" --seeds {}", result.at("seeds").size());
  const std::string name =
      *experiment.data ? fmt::format("{} --data {}", experiment.number, experiment.data) : experiment.name;
  std::vector<std::string> all = {fmt::format("limpid experiment {}{}{}", name, size, seeds)};
  all.push_back(all[0] + " --contrary");
  if (*experiment.planted.english) all.push_back(all[0] + " --planted");
  if (!has_units(experiment, result)) return all;
  for (const auto& [unit, measured] : result.at("seeds").at(0).at("units").items())
    all.push_back(fmt::format("limpid experiment {}{} --unit {}", name, size,
                              unit.find_first_of(" +,") == std::string::npos ? unit : "'" + unit + "'"));
  return all;
}

std::string figure_svg(const Figure& figure) { return figure.svg.empty() ? to_svg(figure.chart) : figure.svg; }

void write_figures(const fs::path& out, const Experiment& experiment, const Json& result) {
  const fs::path folder = result_folder(out, experiment, arm_of(result));
  for (const Language language : {Language::english, Language::korean}) {
    int number = 0;
    for (const Figure& figure : figures_of(experiment, result, language))
      write_text(folder / fmt::format("figure-{}{}.svg", ++number, language == Language::korean ? ".ko" : ""),
                 figure_svg(figure));
  }
}

void write_report(const fs::path& out) {
  std::string sections, index;
  std::vector<Experiment> all = experiments();
  all.insert(all.end(), experiments_on_data().begin(), experiments_on_data().end());
  for (const Experiment& experiment : all) {
    const auto result = read_result(out, experiment, Arm::claim),
               contrary = read_result(out, experiment, Arm::contrary),
               planted = read_result(out, experiment, Arm::planted);
    if (!result) continue;
    const Measure& main =
        *std::find_if(experiment.parts.begin(), experiment.parts.end(), [](const Measure& part) { return part.main; });
    index += fmt::format(
        "<tr><td>{}</td><td><a href=\"#{}\">{}</a><span class=\"number\">{}: {} ({})</span></td><td>{}</td></tr>\n",
        experiment.number, experiment.name, both(experiment.title), both(main.meaning),
        spread_text(judge_main_part(*result)), must_text(main), verdict_text(*result));
    sections += section(experiment, *result, contrary ? &*contrary : nullptr, planted ? &*planted : nullptr);
  }
  const std::string intro =
      "<h1>" + both({"Claims about the Transformer, run and judged", "트랜스포머에 관한 주장, 실행과 판정"}) +
      "</h1>\n<p>" +
      both({"Every number was measured on one machine by Limpid; thresholds were stated before. A claim holds where "
            "every part passes in every seed, does not hold here where its main part fails in most seeds, holds in "
            "part otherwise, and is undecided where the baseline did not learn.",
            "모든 수치는 한 대의 기계에서 Limpid가 측정했고 기준은 미리 정해 두었습니다. 모든 시드에서 모든 부분이 "
            "통과하면 성립, "
            "주된 부분이 과반의 시드에서 통과하지 못하면 여기서는 성립하지 않음, 그 밖에는 부분적으로 성립, 기준 "
            "모델이 배우지 "
            "못했으면 판정 불가입니다."}) +
      "</p>\n";
  write_text(out / "index.html", kHead + intro + "<div class=\"scroll index\"><table>" + index + "</table></div>\n" +
                                     sections + "</main></body></html>\n");
}

std::string markdown_table(const fs::path& out, Language language) {
  const auto word = [&](const char* english, const char* korean) { return Words{english, korean}.in(language); };
  std::string text =
      word("| | name | claim | verdict | main number | measured | must be | contrary | processor time |\n",
           "| | 이름 | 주장 | 판정 | 주된 수치 | 측정값 | 기준 | 반대 실험 | 프로세서 시간 |\n");
  text += "|---|---|---|---|---|---|---|---|---|\n";
  std::string failed, plants;
  bool any = false;
  for (const Experiment& experiment : experiments()) {
    const auto result = read_result(out, experiment, Arm::claim),
               contrary = read_result(out, experiment, Arm::contrary),
               planted = read_result(out, experiment, Arm::planted);
    if (!result) continue;
    any = true;
    const std::string provisional = is_provisional(*result) ? word(" (provisional)", " (잠정)") : "";
    for (const Measure& part : experiment.parts) {
      const PartVerdict verdict = judge_part(*result, measure_json(part));
      const std::string must = must_text(part);
      if (part.main) {
        const PartVerdict other = contrary ? judge_main_part(*contrary) : PartVerdict{};
        text += fmt::format("| {} | `{}` | {} | {}{} | {} | {} | {} | {} | {:.0f} s |\n", experiment.number,
                            experiment.name, experiment.title.in(language), words_of(judge(*result)).in(language),
                            provisional, part.meaning.in(language), spread_text(verdict), must,
                            contrary ? spread_text(other) + " " + other.mark() : word("not run", "실행 안 함"),
                            result->at("processor_seconds").get<double>());
        if (planted)
          plants +=
              fmt::format("- {}. `{}`: {} {} ({}), {} {}/{}.\n", experiment.number, experiment.name,
                          experiment.planted.in(language), spread_text(judge_part(*planted, measure_json(part))), must,
                          word("passes in", "통과"), judge_main_part(*planted).passed, judge_main_part(*planted).seeds);
      }
      if (verdict.seeds > 0 && !verdict.holds())
        failed += fmt::format("- {}. `{}`: {}: {} ({}), {} {}/{}. {}\n", experiment.number, experiment.name,
                              part.meaning.in(language), spread_text(verdict), must, word("passes in", "통과"),
                              verdict.passed, verdict.seeds, part.otherwise.in(language));
    }
  }
  check(any, "[experiment] {}: holds no results: run experiments with it as their folder first", out);
  if (!failed.empty()) text += word("\nParts that failed:\n\n", "\n통과하지 못한 부분:\n\n") + failed;
  if (!plants.empty())
    text += word("\nWhere the main part fails, it passes once the effect is planted:\n\n",
                 "\n주된 부분이 통과하지 못한 곳에서도 효과를 심으면 통과합니다.\n\n") +
            plants;
  return text;
}

void record_results(const fs::path& from, const fs::path& to) {
  bool any = false;
  for (const Experiment& experiment : experiments())
    for (const Arm arm : {Arm::claim, Arm::contrary, Arm::planted}) {
      std::optional<Json> result = read_result(from, experiment, arm);
      if (!result) continue;
      any = true;
      for (Json& seed : result->at("seeds")) seed.erase("units");
      const fs::path folder = result_folder(to, experiment, arm);
      make_folder(folder);
      write_text(folder / "result.json", result->dump(1) + "\n");
    }
  check(any, "[experiment] {}: no results there: run the experiments into this folder first", from);
}

}  // namespace limpid
