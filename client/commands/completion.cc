#include "client/commands/completion.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>

#include "client/commands/command.h"

namespace tinyprof::client {
namespace {

struct Flag {
  std::vector<std::string> names;  // with their dashes
  std::string description;
  bool takes_value = false;
  std::vector<std::string> choices;  // empty: a free value
};

struct Node {
  std::string path;  // "" for the root, "models export" for a nested command
  std::string description;
  std::vector<Flag> flags;
  std::vector<const CLI::App*> children;
};

// The words of "NAME:{warm,cold}", which is how CLI11 writes a set of choices.
std::vector<std::string> ChoicesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t open = type.find('{');
  const size_t close = type.find('}', open);
  if (open == std::string::npos || close == std::string::npos) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

Flag FlagOf(const CLI::Option& option) {
  Flag flag;
  for (const auto& name : option.get_snames()) flag.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) flag.names.push_back("--" + name);
  flag.description = option.get_description();
  flag.takes_value = option.get_items_expected_max() > 0;
  flag.choices = ChoicesOf(option);
  return flag;
}

void Walk(const CLI::App& app, const std::string& path, std::vector<Node>& nodes) {
  Node node{path, app.get_description(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional()) node.flags.push_back(FlagOf(*option));
  }
  node.children = app.get_subcommands([](const CLI::App*) { return true; });
  nodes.push_back(node);
  for (const CLI::App* child : node.children) {
    Walk(*child, path.empty() ? child->get_name() : path + " " + child->get_name(), nodes);
  }
}

std::vector<Node> Tree(const CLI::App& root) {
  std::vector<Node> nodes;
  Walk(root, "", nodes);
  return nodes;
}

// In single quotes for a POSIX shell.
std::string ShellQuote(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// In single quotes for fish, which knows the escapes \' and \\ there.
std::string FishQuote(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

// Everything that may follow the command at `node`.
std::vector<std::string> WordsAfter(const Node& node, const Node& root) {
  std::vector<std::string> words;
  for (const CLI::App* child : node.children) words.push_back(child->get_name());
  for (const Flag& flag : node.flags)
    words.insert(words.end(), flag.names.begin(), flag.names.end());
  if (&node == &root) return words;
  for (const Flag& flag : root.flags) {
    if (std::find(flag.names.begin(), flag.names.end(), "--help") == flag.names.end()) {
      words.insert(words.end(), flag.names.begin(), flag.names.end());
    }
  }
  return words;
}

// `line(pattern, choices)` for each option that takes a value; patterns are alternatives of a
// `case`.
void ForEachValue(
    const std::vector<Node>& nodes,
    const std::function<void(const std::string&, const std::vector<std::string>&)>& line) {
  std::vector<std::string> seen;
  for (const Node& node : nodes) {
    for (const Flag& flag : node.flags) {
      const std::string pattern = fmt::format("{}", fmt::join(flag.names, "|"));
      if (!flag.takes_value || std::find(seen.begin(), seen.end(), pattern) != seen.end()) continue;
      seen.push_back(pattern);
      line(pattern, flag.choices);
    }
  }
}

std::string CommandPaths(const std::vector<Node>& nodes) {
  std::vector<std::string> patterns;
  for (const Node& node : nodes) {
    if (!node.path.empty()) patterns.push_back(ShellQuote(node.path));
  }
  return fmt::format("{}", fmt::join(patterns, "|"));
}

}  // namespace

std::string BashCompletion(const CLI::App& root) {
  const std::vector<Node> nodes = Tree(root);
  std::string script = fmt::format(
      "_tinyprof_client() {{\n"
      "  local cur=\"${{COMP_WORDS[COMP_CWORD]}}\" prev=\"${{COMP_WORDS[COMP_CWORD-1]}}\"\n"
      "  local command='' word words\n"
      "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
      "    case \"${{command:+$command }}$word\" in\n"
      "      {}) command=\"${{command:+$command }}$word\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$prev\" in\n",
      CommandPaths(nodes));
  ForEachValue(nodes, [&script](const std::string& pattern,
                                const std::vector<std::string>& choices) {
    script += choices.empty()
                  ? fmt::format("    {}) compopt -o default; COMPREPLY=(); return ;;\n", pattern)
                  : fmt::format(
                        "    {}) mapfile -t COMPREPLY < <(compgen -W {} -- \"$cur\"); return ;;\n",
                        pattern, ShellQuote(fmt::format("{}", fmt::join(choices, " "))));
  });
  script += "  esac\n  case \"$command\" in\n";
  for (const Node& node : nodes) {
    script +=
        fmt::format("    {}) words={} ;;\n", ShellQuote(node.path),
                    ShellQuote(fmt::format("{}", fmt::join(WordsAfter(node, nodes[0]), " "))));
  }
  return script +
         "  esac\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
         "  [[ ${#COMPREPLY[@]} -gt 0 ]] || compopt -o default\n"
         "}\n"
         "complete -F _tinyprof_client tinyprof-client\n";
}

std::string ZshCompletion(const CLI::App& root) {
  const std::vector<Node> nodes = Tree(root);
  std::string script = fmt::format(
      "#compdef tinyprof-client\n"
      "_tinyprof_client() {{\n"
      "  local command='' word\n"
      "  for word in \"${{(@)words[2,CURRENT-1]}}\"; do\n"
      "    case \"${{command:+$command }}$word\" in\n"
      "      {}) command=\"${{command:+$command }}$word\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"${{words[CURRENT-1]}}\" in\n",
      CommandPaths(nodes));
  ForEachValue(nodes,
               [&script](const std::string& pattern, const std::vector<std::string>& choices) {
                 script += choices.empty() ? fmt::format("    {}) _files; return ;;\n", pattern)
                                           : fmt::format("    {}) compadd -- {}; return ;;\n",
                                                         pattern, fmt::join(choices, " "));
               });
  script += "  esac\n  case \"$command\" in\n";
  for (const Node& node : nodes) {
    script += fmt::format("    {}) compadd -- {} ;;\n", ShellQuote(node.path),
                          fmt::join(WordsAfter(node, nodes[0]), " "));
  }
  return script +
         "  esac\n"
         "  [[ -n \"$command\" ]] && _files\n"
         "}\n"
         "compdef _tinyprof_client tinyprof-client\n";
}

std::string FishCompletion(const CLI::App& root) {
  const std::vector<Node> nodes = Tree(root);
  std::string script;
  for (const Node& node : nodes) {
    std::string condition;
    if (!node.path.empty()) {
      condition = fmt::format(" -n '__fish_seen_subcommand_from {}'",
                              node.path.substr(node.path.rfind(' ') + 1));
    }
    const std::string child_condition = node.path.empty() ? " -n __fish_use_subcommand" : condition;
    for (const CLI::App* child : node.children) {
      script += fmt::format("complete -c tinyprof-client{} -f -a {} -d {}\n", child_condition,
                            child->get_name(), FishQuote(child->get_description()));
    }
    for (const Flag& flag : node.flags) {
      script += "complete -c tinyprof-client" + condition;
      for (const std::string& name : flag.names) {
        script += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!flag.choices.empty()) {
        script +=
            fmt::format(" -x -a {}", FishQuote(fmt::format("{}", fmt::join(flag.choices, " "))));
      } else if (flag.takes_value) {
        script += " -r";
      }
      script += fmt::format(" -d {}\n", FishQuote(flag.description));
    }
  }
  return script;
}

Action SetupCompletion(CLI::App& app, GlobalOptions&) {
  const auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  return [shell, &app](Session& session) -> Result<ExitCode> {
    if (session.options().json) {
      return Fail(ErrorCode::kInvalidArgument, "NO_JSON",
                  "completion prints a script for a shell and has no --json");
    }
    const CLI::App& root = *app.get_parent();
    const std::string script = *shell == "bash"  ? BashCompletion(root)
                               : *shell == "zsh" ? ZshCompletion(root)
                                                 : FishCompletion(root);
    TINYPROF_RETURN_IF_ERROR(session.Print(script));
    return ExitCode::kOk;
  };
}

}  // namespace tinyprof::client
