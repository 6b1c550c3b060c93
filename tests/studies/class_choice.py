"""Draws of keys for random configs (class_configs.py), in the words of a release of transformers."""

import random

ABSENT = object()  # the key is left out: the class's default
ACTIVATIONS = ("gelu", "gelu_new", "relu", "silu", "swish", "gelu_pytorch_tanh", "gelu_fast", "tanh", "quick_gelu")


class Choice:
    """`release` (4, 51) changes how some keys are written."""

    def __init__(self, seed, release):
        self.random, self.release, self.newer = random.Random(seed), release, release >= (5,)

    def one(self, *values):
        return self.random.choice(values)

    def perhaps(self, *values):
        return self.random.choice((ABSENT, *values))

    def flag(self):
        return self.perhaps(True, False)

    def rarely(self, value):
        return value if self.random.random() < 0.15 else ABSENT

    def newly(self, value):
        """Of keys that releases before 4.55 do not heed."""
        return self.perhaps(value) if self.release >= (4, 55) else ABSENT

    def activation(self):
        return self.one(ABSENT, ABSENT, self.one(*ACTIVATIONS))

    def sizes(self, head=(4, 8, 12, 16), layers=(2, 3, 4, 5), keys=True, head_dim=True):
        heads, size = self.one(2, 4, 6, 8), self.one(*head)
        config = {"hidden_size": heads * size, "num_attention_heads": heads, "num_hidden_layers": self.one(*layers),
                  "intermediate_size": self.one(40, 56, 80), "vocab_size": self.one(89, 97, 120)}
        if keys:
            config["num_key_value_heads"] = self.one(*[k for k in (1, 2, heads) if heads % k == 0])
        if head_dim and self.random.random() < 0.5:
            size = config["head_dim"] = self.one(8, 16, 20)
        return config, size

    def scaling(self, turned, kinds=("linear", "dynamic", "llama3", "yarn", "longrope")):
        kind = self.one(*kinds)
        config = {"rope_type": kind, "factor": self.one(1.5, 2.0, 4.0)}
        if not self.newer and kind in ("linear", "dynamic", "yarn") and self.random.random() < 0.3:
            config["type"] = config.pop("rope_type")
        if kind in ("llama3", "longrope") or (kind == "yarn" and self.release >= (4, 55)):
            config["original_max_position_embeddings"] = self.one(8, 16)
        if kind == "llama3":
            config |= {"low_freq_factor": self.one(1.0, 1.5), "high_freq_factor": self.one(3.0, 4.0)}
        if kind == "yarn":
            config |= {key: value for key, value in (
                ("beta_fast", self.perhaps(16.0, 4.0)), ("beta_slow", self.perhaps(2.0)),
                ("attention_factor", self.perhaps(1.2, 0.7)), ("truncate", self.newly(False)), ("mscale", self.newly(0.707)),
                ("mscale_all_dim", self.newly(0.8))) if value is not ABSENT}
        if kind == "longrope":
            for key in ("short_factor", "long_factor"):
                config[key] = [round(1 + 2 * self.random.random(), 2) for _ in range(turned // 2)]
        return config

    def rope(self, config, size, partial=None, key="partial_rotary_factor", theta="rope_theta", scaled=0.4, since=(4, 50),
             kinds=("linear", "dynamic", "llama3", "yarn")):
        """Rotary positions as the release writes them; older ones than `since` ignore what stretches them."""
        share = self.one(*partial) if partial else ABSENT
        turned = int(size * (share if share is not ABSENT else partial[0] if partial else 1))
        stretched = self.random.random() < scaled and self.release >= since
        # Releases before 5 ask config.json itself, not rope_scaling, how long the texts of training were.
        further = ("longrope",) if self.newer and len(kinds) == 4 else ()
        scaling = self.scaling(turned, (*kinds, *further)) if stretched else None
        base = self.perhaps(500000.0, 1000.0)
        config["max_position_embeddings"] = self.one(16, 40, 64)
        if self.newer:
            if scaling or base is not ABSENT or share is not ABSENT:
                rope = {"rope_type": "default", "rope_theta": 10000.0 if base is ABSENT else base} | (scaling or {})
                config["rope_parameters"] = rope if share is ABSENT else rope | {"partial_rotary_factor": share}
            return
        config |= {theta: base if theta == "rope_theta" or base is ABSENT else int(base), key: share}
        if scaling:
            config["rope_scaling"] = scaling

    def window(self, *sizes):
        """Of families whose eager attention of 4.44 looks at none."""
        return self.perhaps(None, *sizes) if self.release >= (4, 50) else None

    def layer_types(self, config):
        if self.release >= (4, 56) and self.random.random() < 0.4:
            config["layer_types"] = [self.one("sliding_attention", "full_attention")
                                     for _ in range(config["num_hidden_layers"])]
