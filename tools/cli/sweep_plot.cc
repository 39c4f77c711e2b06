#include "tools/cli/sweep_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace tfemu::cli {
namespace {

constexpr double kWidth = 860, kHeight = 500, kLeft = 82, kTop = 64, kBottom = 64, kLegend = 250;
constexpr double kPlotWidth = kWidth - kLeft - kLegend, kPlotHeight = kHeight - kTop - kBottom;
constexpr const char* kText = "#1b1f24";
// Okabe and Ito's colours, which colour-blind eyes tell apart; the marks differ as well.
constexpr std::array kColors = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};

std::string Escape(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') escaped += "&amp;";
    else if (c == '<') escaped += "&lt;";
    else if (c == '>') escaped += "&gt;";
    else if (c == '"') escaped += "&quot;";
    else escaped += c;
  }
  return escaped;
}

std::string Label(double value) {
  return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                              : fmt::format("{:.4g}", value);
}

// Positions in the picture for positions on the axes.
class Scales {
 public:
  Scales(const Comparison& comparison, const std::vector<Reference>& references) {
    double largest = 0;
    for (const auto& series : comparison.series)
      for (const auto& point : series.points) {
        numeric_ = numeric_ && point.x_value.has_value();
        if (std::ranges::find(names_, point.x) == names_.end()) names_.push_back(point.x);
        largest = std::max(largest, point.y);
        if (point.x_value) last_x_ = std::max(last_x_, *point.x_value);
      }
    for (const auto& reference : references) largest = std::max(largest, reference.value);
    if (comparison.scales)
      for (const auto& series : comparison.series) largest = std::max(largest, Ideal(series, last_x_));
    ticks_ = Ticks(largest);
  }

  // A series' value if it grew as x does.
  static double Ideal(const Series& series, double x) {
    const auto& first = series.points.front();
    return first.x_value && *first.x_value > 0 ? first.y * x / *first.x_value : first.y;
  }
  double X(const SeriesPoint& point) const { return numeric_ ? X(*point.x_value) : X(Position(point.x)); }
  double X(double value) const {
    const double room = numeric_ ? std::max(last_x_ * 1.06, 1e-9) : static_cast<double>(names_.size());
    return kLeft + kPlotWidth * (numeric_ ? value : value + 0.5) / room;
  }
  double Y(double value) const { return kTop + kPlotHeight * (1 - value / ticks_.back()); }
  bool numeric() const { return numeric_; }
  double last_x() const { return last_x_; }
  const std::vector<double>& ticks() const { return ticks_; }
  const std::vector<std::string>& names() const { return names_; }

 private:
  double Position(const std::string& name) const {
    return static_cast<double>(std::ranges::find(names_, name) - names_.begin());
  }

  bool numeric_ = true;
  double last_x_ = 0;
  std::vector<std::string> names_;
  std::vector<double> ticks_;
};

std::string Words(double x, double y, const std::string& text, const std::string& rest = {}) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, rest, Escape(text));
}

std::string Line(double x1, double y1, double x2, double y2, const std::string& style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2,
                     style);
}

std::string Axes(const Comparison& comparison, const Scales& scales) {
  std::string svg;
  for (const double tick : scales.ticks()) {
    svg += Line(kLeft, scales.Y(tick), kLeft + kPlotWidth, scales.Y(tick), "stroke=\"#d8dee4\"");
    svg += Words(kLeft - 10, scales.Y(tick) + 4, Label(tick), "text-anchor=\"end\"");
  }
  const double base = kTop + kPlotHeight;
  svg += Line(kLeft, base, kLeft + kPlotWidth, base, "stroke=\"#57606a\"");
  for (size_t i = 0; i < scales.names().size(); ++i) {
    const std::string& name = scales.names()[i];
    const double x =
        scales.numeric() ? scales.X(std::strtod(name.c_str(), nullptr)) : scales.X(static_cast<double>(i));
    svg += Line(x, base, x, base + 5, "stroke=\"#57606a\"") +
           Words(x, base + 20, name, "text-anchor=\"middle\"");
  }
  svg += Words(kLeft + kPlotWidth / 2, kHeight - 18,
               comparison.x_key.empty() ? "the job as it is" : comparison.x_key,
               "text-anchor=\"middle\" font-weight=\"600\"");
  return svg + fmt::format(
                   "<text transform=\"translate(22 {:.1f}) rotate(-90)\" text-anchor=\"middle\" "
                   "font-weight=\"600\">{}</text>\n",
                   kTop + kPlotHeight / 2, Escape(comparison.y_label));
}

std::string Mark(size_t series, double x, double y, const char* color) {
  if (series % 3 == 1)
    return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"10\" height=\"10\" fill=\"{}\"/>\n", x - 5,
                       y - 5, color);
  if (series % 3 == 2)
    return fmt::format("<path d=\"M{:.1f} {:.1f} l6 11 h-12 z\" fill=\"{}\"/>\n", x, y - 7, color);
  return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5.5\" fill=\"{}\"/>\n", x, y, color);
}

std::string Curve(const Series& series, size_t number, const Scales& scales) {
  const char* color = kColors[number % kColors.size()];
  std::string path, marks;
  for (const auto& point : series.points) {
    const double x = scales.X(point), y = scales.Y(point.y);
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", x, y);
    marks += Mark(number, x, y, color);
    // Beneath the mark: the ideal line runs above it.
    const bool first = &point == &series.points.front();
    marks += Words(x + (first ? 9 : 0), y + (first ? 17 : 22), fmt::format("{:.1f}", point.y),
                   first ? "font-size=\"12\"" : "font-size=\"12\" text-anchor=\"middle\"");
  }
  if (!scales.numeric()) return marks;
  return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2.5\"/>\n", path, color) +
         marks;
}

class Legend {
 public:
  void Add(const std::string& sample, const std::string& text) {
    constexpr size_t kLine = 27;
    std::string rest = text;
    svg_ +=
        fmt::format("<g transform=\"translate({:.1f} {:.1f})\">{}</g>\n", kWidth - kLegend + 22, y_, sample);
    while (!rest.empty()) {
      size_t cut = rest.size() <= kLine ? rest.size() : rest.rfind(' ', kLine);
      if (cut == std::string::npos || cut == 0) cut = std::min(kLine, rest.size());
      svg_ += Words(kWidth - kLegend + 62, y_ + 4, rest.substr(0, cut), "font-size=\"13\"");
      rest.erase(0, cut);
      if (rest.starts_with(' ')) rest.erase(0, 1);
      y_ += 18;
    }
    y_ += 8;
  }
  const std::string& svg() const { return svg_; }

 private:
  std::string svg_;
  double y_ = kTop + 10;
};

std::string Dashed(const char* color, const char* dashes) {
  return fmt::format("stroke=\"{}\" stroke-width=\"1.8\" stroke-dasharray=\"{}\"", color, dashes);
}

}  // namespace

std::vector<double> Ticks(double largest) {
  if (!(largest > 0) || !std::isfinite(largest)) return {0, 1};
  const double power = std::pow(10, std::floor(std::log10(largest / 4)));
  double step = power * 10;
  for (const double factor : {1.0, 2.0, 2.5, 5.0, 10.0})
    if (factor * power * 6 >= largest * 1.04) {
      step = factor * power;
      break;
    }
  std::vector<double> ticks;
  for (int i = 0; ticks.empty() || ticks.back() < largest * 1.04; ++i) ticks.push_back(i * step);
  return ticks;
}

Result<Reference> ParseReference(const std::string& text) {
  const size_t equals = text.rfind('=');
  char* end = nullptr;
  const std::string number = equals == std::string::npos ? "" : text.substr(equals + 1);
  const double value = std::strtod(number.c_str(), &end);
  if (number.empty() || *end != '\0' || equals == 0 || !std::isfinite(value) || value < 0)
    return Error{Reason::kBadRequest, "--reference \"" + text + "\" is not LABEL=NUMBER",
                 "such as --reference 'A10, ECI network=198.28'"};
  return Reference{text.substr(0, equals), value};
}

std::string PlotSweep(const SweepResults& results, const std::vector<Reference>& references) {
  const Comparison comparison = Compare(results);
  const Scales scales(comparison, references);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" "
      "font-family=\"system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif\" font-size=\"13\" fill=\"{2}\" "
      "role=\"img\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      kWidth, kHeight, kText);
  svg += Words(kLeft, 34, results.job + ": " + comparison.y_label, "font-size=\"18\" font-weight=\"600\"");
  svg += Axes(comparison, scales);
  Legend legend;
  for (const auto& reference : references) {
    svg += Line(kLeft, scales.Y(reference.value), kLeft + kPlotWidth, scales.Y(reference.value),
                Dashed("#7b3294", "2 5"));
    legend.Add(Line(0, 0, 30, 0, Dashed("#7b3294", "2 5")), reference.label + ": " + Label(reference.value));
  }
  if (comparison.scales && scales.numeric() && !results.by_wall) {
    for (const auto& series : comparison.series)
      svg += Line(scales.X(0.0), scales.Y(0), scales.X(scales.last_x()),
                  scales.Y(Scales::Ideal(series, scales.last_x())), Dashed("#57606a", "8 5"));
    legend.Add(Line(0, 0, 30, 0, Dashed("#57606a", "8 5")), "ideal: in proportion to " + comparison.x_key);
  }
  for (size_t i = 0; i < comparison.series.size(); ++i) {
    svg += Curve(comparison.series[i], i, scales);
    const char* color = kColors[i % kColors.size()];
    const std::string name = comparison.series[i].name;
    legend.Add(
        Line(0, 0, 30, 0, fmt::format("stroke=\"{}\" stroke-width=\"2.5\"", color)) + Mark(i, 15, 0, color),
        name.empty() ? "measured here" : name);
  }
  return svg + legend.svg() + "</svg>\n";
}

std::string SweepPage(const SweepResults& results, const std::string& plot, const std::string& command) {
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + Escape(results.job) +
         "</title>\n<style>body{font:15px/1.5 system-ui,'Segoe UI','DejaVu Sans',sans-serif;color:" + kText +
         ";background:#fff;max-width:900px;margin:2em auto;padding:0 1em}svg{max-width:100%;height:auto}"
         "pre{background:#f3f5f7;padding:1em;overflow-x:auto;border-radius:6px}"
         ".command{white-space:pre-wrap}</style></head>\n<body>\n" +
         plot + "<pre>" + Escape(FormatSweepTable(results)) +
         "</pre>\n<p>Made by</p>\n<pre class=\"command\">" + Escape(command) + "</pre>\n</body></html>\n";
}

}  // namespace tfemu::cli
