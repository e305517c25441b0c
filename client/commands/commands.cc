#include <array>

#include "client/commands/command.h"

namespace tinyprof::client {
namespace {

constexpr std::array kCommands = {
    Command{"analyze", "Count a model's FLOPs, bytes and memory; run nothing",
            "tinyprof-client analyze resnet18\n"
            "tinyprof-client analyze 'linear(784,128); relu; linear(128,10)' --input 32x784 --json",
            SetupAnalyze},
    Command{"profile", "Run a model and set each layer against the roofline",
            "tinyprof-client profile resnet18 --fuse on\n"
            "tinyprof-client profile ./model.onnx --input data=1x3x224x224 --json -o run.json",
            SetupProfile},
    Command{"layer", "Run one layer and show all that is known of it",
            "tinyprof-client layer 'linear(768,3072)' --input 32x768\n"
            "tinyprof-client layer 'conv2d(3,64,7,stride=2,padding=3)' --input 1x3x224x224",
            SetupLayer},
    Command{"latency", "Measure how long a forward pass takes",
            "tinyprof-client latency mlp\n"
            "tinyprof-client latency gpt2-small:phase=decode --precision 0.5%",
            SetupLatency},
    Command{"memory", "Run a model and show where its memory goes",
            "tinyprof-client memory vgg16\n"
            "tinyprof-client memory bert-base:seq=128 --batch 8",
            SetupMemory},
    Command{"roofline", "Show the measured ceilings of the machine",
            "tinyprof-client roofline\n"
            "tinyprof-client roofline --measure --json",
            SetupRoofline},
    Command{"counters", "Show what the machine can count and how far that is trusted",
            "tinyprof-client counters\n"
            "tinyprof-client counters --calibrate\n"
            "tinyprof-client counters --json",
            SetupCounters},
    Command{"doctor", "Show what stands in the way of measuring, and what mends it",
            "tinyprof-client doctor\n"
            "tinyprof-client doctor --address unix:/tmp/lab.sock",
            SetupDoctor},
    Command{"host", "Show the machine the daemon runs on",
            "tinyprof-client host\n"
            "tinyprof-client host --json",
            SetupHost},
    Command{"models", "List the models that can be named; upload, export or delete one",
            "tinyprof-client models\n"
            "tinyprof-client models export lenet lenet.onnx\n"
            "tinyprof-client models upload ./model.onnx\n"
            "tinyprof-client models delete model-0123456789ab",
            SetupModels},
    Command{"quantize", "Write a model of 8-bit integers and say what that costs in accuracy",
            "tinyprof-client quantize resnet18 resnet18-int8.onnx\n"
            "tinyprof-client quantize ./model.onnx --mode dynamic\n"
            "tinyprof-client quantize lenet --samples 64 --json",
            SetupQuantize},
    Command{"verify", "Run a model on given inputs and compare its outputs",
            "tinyprof-client verify ./model.onnx --data test_data_set_0\n"
            "tinyprof-client verify lenet --data case --rtol 1e-4",
            SetupVerify},
    Command{"list", "List the runs the daemon keeps, newest first",
            "tinyprof-client list\n"
            "tinyprof-client list --limit 100 --json",
            SetupList},
    Command{"show", "Show a run and its result",
            "tinyprof-client show RUN\n"
            "tinyprof-client show RUN --csv -o run.csv",
            SetupShow},
    Command{"compare", "Say whether one run is faster than another, layer by layer",
            "tinyprof-client compare RUN RUN\n"
            "tinyprof-client compare RUN RUN --tolerance 2% --json",
            SetupCompare},
    Command{"watch", "Follow a run to its end; Ctrl-C leaves it running",
            "tinyprof-client watch RUN\n"
            "tinyprof-client watch RUN --timeout 5m",
            SetupWatch},
    Command{"cancel", "Cancel a run",
            "tinyprof-client cancel RUN\n"
            "tinyprof-client cancel RUN --json",
            SetupCancel},
    Command{"delete", "Delete a run that has ended",
            "tinyprof-client delete RUN\n"
            "tinyprof-client delete RUN --json",
            SetupDelete},
    Command{"health", "Ask whether the daemon serves",
            "tinyprof-client health\n"
            "tinyprof-client health --wait 30s",
            SetupHealth},
    Command{"version", "Show the versions of client and daemon",
            "tinyprof-client version\n"
            "tinyprof-client version --json",
            SetupVersion},
    Command{"completion", "Print a completion script for a shell",
            "tinyprof-client completion bash > ~/.local/share/bash-completion/completions/"
            "tinyprof-client\n"
            "tinyprof-client completion fish > ~/.config/fish/completions/tinyprof-client.fish",
            SetupCompletion},
};

}  // namespace

std::span<const Command> Commands() { return kCommands; }

}  // namespace tinyprof::client
