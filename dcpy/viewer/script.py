"""The script of the page: shows what is pointed at, marks its namesakes, zooms and moves. Text enters as text only."""

from __future__ import annotations

SCRIPT = """
(() => {
  const details = JSON.parse(document.getElementById("details").textContent);
  const panel = document.getElementById("panel");
  let chosen = null;

  const add = (parent, tag, text, css) => {
    const made = document.createElement(tag);
    made.textContent = text;
    if (css) made.className = css;
    parent.append(made);
    return made;
  };
  const show = element => {
    const info = details[element.dataset.info];
    panel.replaceChildren();
    add(panel, "h2", info.title);
    if (info.place) {
      const python = add(panel, "div", "", "python");
      add(python, "strong", info.place);
      if (info.line) add(python, "pre", info.line);
    }
    const list = add(panel, "dl", "");
    for (const [name, value] of info.rows) { add(list, "dt", name); add(list, "dd", value); }
    if (info.text) add(panel, "pre", info.text);
    document.querySelectorAll(".same").forEach(other => other.classList.remove("same"));
    const name = element.dataset.container;
    if (name) document.querySelectorAll(".access").forEach(other => {
      if (other.dataset.container === name) other.classList.add("same");
    });
  };
  const choose = element => {
    if (chosen) chosen.classList.remove("chosen");
    chosen = chosen === element ? null : element;
    if (chosen) { chosen.classList.add("chosen"); show(chosen); }
  };
  document.querySelectorAll("[data-info]").forEach(element => {
    element.addEventListener("pointerenter", () => { if (!chosen) show(element); });
    element.addEventListener("focus", () => { if (!chosen) show(element); });
    element.addEventListener("click", event => { event.stopPropagation(); choose(element); });
    element.addEventListener("keydown", event => { if (event.key === "Enter") choose(element); });
  });

  document.querySelectorAll("section").forEach(section => {
    const canvas = section.querySelector(".canvas"), svg = section.querySelector("svg");
    if (!svg) return;
    const width = svg.viewBox.baseVal.width, height = svg.viewBox.baseVal.height;
    let scale = 1;
    const zoom = next => {
      scale = Math.min(4, Math.max(0.05, next));
      svg.setAttribute("width", width * scale);
      svg.setAttribute("height", height * scale);
    };
    const fit = () => zoom(Math.min(1, (canvas.clientWidth - 4) / width));
    const actions = { "+": () => zoom(scale * 1.25), "\\u2212": () => zoom(scale / 1.25), "\\u2922": fit };
    const bar = add(section, "div", "", "zoom");
    for (const [label, action] of Object.entries(actions)) add(bar, "button", label).addEventListener("click", action);
    canvas.addEventListener("wheel", event => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(scale * (event.deltaY < 0 ? 1.1 : 1 / 1.1));
    }, { passive: false });
    let from = null;
    canvas.addEventListener("pointerdown", event => {
      from = [event.clientX + canvas.scrollLeft, event.clientY + canvas.scrollTop];
      canvas.classList.add("moving");
    });
    addEventListener("pointermove", event => {
      if (from) canvas.scrollTo(from[0] - event.clientX, from[1] - event.clientY);
    });
    addEventListener("pointerup", () => { from = null; canvas.classList.remove("moving"); });
    fit();
  });
})();
"""
