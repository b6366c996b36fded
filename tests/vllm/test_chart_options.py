"""The options that the chart gives to vLLM are options of this version of vLLM."""

import json
import os
import subprocess

import pytest

from tests.packaging.chart import containers, manifests, of_kind
from tests.vllm.server import PYTHON

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(300)]

PARSE = """
import json, sys
from vllm.entrypoints.launchers.cli_args import make_arg_parser, validate_parsed_serve_args
from vllm.utils.argparse_utils import FlexibleArgumentParser

read = make_arg_parser(FlexibleArgumentParser()).parse_args(sys.argv[1:])
validate_parsed_serve_args(read)
attention = read.attention_config if isinstance(read.attention_config, dict) else vars(read.attention_config)
print(json.dumps({"model": read.model_tag, "sequences": read.max_num_seqs, "quantization": read.quantization,
                  "flash_attention": attention["flash_attn_version"], "backend": str(read.attention_backend)}))
"""


def test_vllm_takes_the_options_of_the_chart() -> None:
    documents = manifests("model.serve=service", "model.vllm.quantization=awq_marlin")
    options = containers(of_kind("Deployment", documents)["model"])[0]["args"]
    environment = {**os.environ, "VLLM_LOGGING_LEVEL": "ERROR", "HF_HUB_OFFLINE": "1", "PYTHONPYCACHEPREFIX": ""}
    parsed = subprocess.run(
        [PYTHON, "-c", PARSE, *options], env=environment, capture_output=True, text=True, check=False, timeout=280
    )
    assert parsed.returncode == 0, parsed.stderr[-3000:]
    assert json.loads(parsed.stdout.splitlines()[-1]) == {
        "model": "/models/planner",
        "sequences": 64,
        "quantization": "awq_marlin",
        "flash_attention": 2,
        "backend": "FLASH_ATTN",
    }
