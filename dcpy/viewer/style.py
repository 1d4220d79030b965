"""The style sheet of the page: one palette for light, one for dark, chosen by the reader's system."""

from __future__ import annotations

STYLE = """
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --ink: #1d2433; --faint: #69738a; --line: #c9d0dc; --edge: #8792a8;
  --state: #ffffff; --control: #f1ecf7; --control-line: #a58fc4;
  --data: #fff3d6; --data-line: #c98a12; --task: #e3effd; --task-line: #3b7dd0;
  --map: #2f8f6b; --map-inside: #eef8f3; --map-ink: #ffffff; --library: #f3e6fb; --library-line: #8a4bb8;
  --mark: #e0245e;
}
@media (prefers-color-scheme: dark) { :root {
  --page: #12151c; --card: #1a1f29; --ink: #e3e8f2; --faint: #94a0b8; --line: #39435a; --edge: #76839d;
  --state: #1a1f29; --control: #221d2e; --control-line: #7d67a3;
  --data: #3a2e12; --data-line: #d9a33c; --task: #16283f; --task-line: #5a9bec;
  --map: #2c7a5e; --map-inside: #15231f; --map-ink: #eafff6; --library: #2d1d3a; --library-line: #b07ee0;
  --mark: #ff5c8d;
} }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 14px/1.5 system-ui, sans-serif; }
code, pre, text { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
main { display: grid; grid-template-columns: minmax(0, 1fr) 330px; gap: 20px; padding: 20px; margin: auto;
  max-width: 2400px; }
@media (max-width: 900px) { main { grid-template-columns: minmax(0, 1fr); } aside { position: static !important; } }
header { grid-column: 1 / -1; }
h1 { margin: 0; font-size: 20px; } h2 { margin: 0 0 8px; font-size: 15px; }
header code { color: var(--faint); overflow-wrap: anywhere; }
section, aside > div, details { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 14px; }
section { margin-bottom: 20px; position: relative; }
section .canvas { overflow: auto; max-height: 88vh; cursor: grab; text-align: center; }
section .canvas.moving { cursor: grabbing; user-select: none; }
.zoom { position: absolute; top: 10px; right: 10px; display: flex; gap: 4px; }
.zoom button { width: 28px; height: 28px; border: 1px solid var(--line); border-radius: 6px; background: var(--card);
  color: var(--ink); font-size: 15px; cursor: pointer; }
aside { position: sticky; top: 20px; align-self: start; display: grid; gap: 20px; }
aside pre, details pre { margin: 8px 0 0; overflow: auto; font-size: 12px; line-height: 1.45; }
aside dl { display: grid; grid-template-columns: auto 1fr; gap: 2px 12px; margin: 8px 0 0; font-size: 13px; }
aside dt { color: var(--faint); } aside dd { margin: 0; overflow-wrap: anywhere; }
aside .python { border-left: 3px solid var(--task-line); padding-left: 8px; }
aside .hint { color: var(--faint); margin: 0; }
table { border-collapse: collapse; font-size: 12px; width: 100%; } td { padding: 2px 8px 2px 0; vertical-align: top; }
td:first-child { white-space: nowrap; } td code { overflow-wrap: anywhere; }
details { grid-column: 1 / -1; } summary { cursor: pointer; font-weight: 600; }
svg { display: inline-block; } svg text { font-size: 12px; fill: var(--ink); }
svg g { outline: none; }
.title { font-weight: 600; } .declaration { fill: var(--faint); font-size: 11px; }
.state > rect { fill: var(--state); stroke: var(--line); } .state > .title { fill: var(--faint); }
.control > rect { fill: var(--control); stroke: var(--control-line); }
.branch > rect { stroke-dasharray: 7 4; }
.step > rect { fill: var(--control); stroke: var(--control-line); } .check > rect { stroke: var(--mark); }
.access > ellipse { fill: var(--data); stroke: var(--data-line); stroke-width: 1.6; }
.access.transient > ellipse { stroke-dasharray: 5 3; stroke-width: 1.2; }
.access.stream > ellipse { stroke-dasharray: 9 3 2 3; } .access.view > ellipse { fill: none; }
.tasklet > polygon { fill: var(--task); stroke: var(--task-line); stroke-width: 1.2; }
.library > polygon, .call > polygon, .foreign > polygon { fill: var(--library); stroke: var(--library-line); }
.fold { fill: var(--card); stroke: var(--library-line); }
.copy > rect { fill: var(--card); stroke: var(--edge); }
.scope > .inside { fill: var(--map-inside); stroke: var(--map); } .scope > .bar { fill: var(--map); }
.scope > .title { fill: var(--map-ink); }
.edge { fill: none; stroke: var(--edge); stroke-width: 1.3; } .edge.tip { marker-end: url(#tip); }
.edge.wcr { stroke-dasharray: 5 3; } .edge.view { stroke-dasharray: 2 3; }
.edge.order { opacity: 0.45; stroke-dasharray: 1 4; }
.then { fill: none; stroke: var(--faint); stroke-width: 2; marker-end: url(#tip); }
#tip path { fill: var(--edge); }
.memlet > rect { fill: transparent; } .memlet > text { font-size: 11px; fill: var(--faint); }
[data-info] { cursor: pointer; }
[data-info]:hover > rect, [data-info]:hover > ellipse, [data-info]:hover > polygon, .chosen > rect, .chosen > ellipse,
.chosen > polygon, .same > ellipse { stroke: var(--mark); stroke-width: 2; }
.memlet:hover > text, .memlet.chosen > text { fill: var(--mark); }
.memlet:hover > rect, .memlet.chosen > rect { stroke: none; }
"""
