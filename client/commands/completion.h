// Completion scripts, made by walking the tree of commands and options, so that they cannot fall
// behind.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace tinyprof::client {

std::string BashCompletion(const CLI::App& root);
std::string ZshCompletion(const CLI::App& root);
std::string FishCompletion(const CLI::App& root);

}  // namespace tinyprof::client
