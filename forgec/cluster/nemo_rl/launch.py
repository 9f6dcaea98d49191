"""`python -m forgec.cluster.nemo_rl.launch`: readies NeMo-RL, and runs its own script."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path

from forgec.cluster.checkout import SCRIPTS
from forgec.cluster.nemo_rl.installing import RefusedError, install


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkout", type=Path, required=True, help="The folder of NeMo-RL's source.")
    parser.add_argument("--config", type=Path, required=True, help="The recipe that `forgec train` rendered.")
    known, overrides = parser.parse_known_args()
    sys.path.insert(0, str(known.checkout))
    from nemo_rl.utils.config import load_config, parse_hydra_overrides, register_omegaconf_resolvers
    from omegaconf import OmegaConf

    register_omegaconf_resolvers()
    config = load_config(str(known.config))
    if overrides:
        config = parse_hydra_overrides(config, overrides)
    composed = OmegaConf.to_container(config, resolve=True)
    try:
        install(composed)
    except RefusedError as error:
        sys.exit(f"error: {error}")
    gym = bool(composed["env"].get("should_use_nemo_gym"))
    script = known.checkout / SCRIPTS["gym" if gym else "native"]
    sys.argv = [str(script), "--config", str(known.config), *overrides]
    runpy.run_path(str(script), run_name="__main__")


if __name__ == "__main__":
    main()
