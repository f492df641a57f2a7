#include "tests/source_tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

namespace tidelock::tests {

namespace {

namespace fs = std::filesystem;

SourceFile read(const fs::path& root, const fs::path& path) {
    SourceFile file{fs::relative(path, root).string(), {}};
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) file.lines.push_back(line);
    return file;
}

std::vector<SourceFile> files_of(const std::vector<std::string>& folders, const std::set<std::string>& endings) {
    const fs::path root = TIDELOCK_SOURCE_DIR;
    std::vector<SourceFile> files;
    for (const std::string& folder : folders) {
        if (!fs::is_directory(root / folder)) continue;
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            if (entry.is_regular_file() && endings.contains(entry.path().extension())) {
                files.push_back(read(root, entry.path()));
            }
        }
    }
    std::sort(files.begin(), files.end(), [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
    return files;
}

}  // namespace

std::vector<SourceFile> source_files(const std::vector<std::string>& folders) {
    return files_of(folders, {".cc", ".h"});
}

std::vector<SourceFile> text_files() {
    const std::vector<std::string> folders = {"protocol", "sim",   "checker", "scenarios",
                                              "reports",  "tools", "tests",   ".ci"};
    std::vector<SourceFile> files =
        files_of(folders, {".cc", ".h", ".md", ".txt", ".json", ".scn", ".patch", ".cmake", ".sh", ""});
    const fs::path root = TIDELOCK_SOURCE_DIR;
    for (const auto& entry : fs::directory_iterator(root)) {
        // A file, not a folder, in a linked worktree.
        if (entry.path().filename() == ".git") continue;
        if (entry.is_regular_file()) files.push_back(read(root, entry.path()));
    }
    return files;
}

std::string code_of(const std::string& line) {
    std::string code;
    char quote = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (quote != 0) {
            if (c == '\\') ++i;
            if (c == quote) quote = 0;
            continue;
        }
        // An apostrophe between digits separates thousands.
        const bool is_separator = c == '\'' && i > 0 && std::isxdigit(static_cast<unsigned char>(line[i - 1])) != 0;
        if (c == '"' || (c == '\'' && !is_separator)) {
            quote = c;
            continue;
        }
        if (c == '/' && i + 1 < line.size() && line[i + 1] == '/') break;
        code += c;
    }
    return code;
}

}  // namespace tidelock::tests
