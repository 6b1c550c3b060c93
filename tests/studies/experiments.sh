#!/usr/bin/env bash
# The whole set of experiments at quick size, killed at random moments: see README.md here.
# Usage: experiments.sh BUILD [KILLS [SECONDS]]     KILLS (20), each within SECONDS (30) of a start
set -uo pipefail
source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export LIMPID_KILLS=${2:-20} LIMPID_SECONDS=${3:-30} LIMPID_EXPERIMENTS=all LIMPID_SIZE=--quick
exec bash "$source_folder/tests/experiment_test.sh" "$source_folder" "$(realpath "$1")"
