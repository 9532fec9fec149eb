// What is wider than its place can be pushed sideways; a line above says so, while that is the case.
(function () {
    "use strict";

    const kWide = "table.markdownTable tbody, .measured, p.formulaDsp";

    function say(wide) {
        const line = document.createElement("p");
        line.className = "push";
        line.textContent = "wider than this window: push it sideways ↔";
        line.hidden = true;
        (wide.closest("table") || wide).before(line);
        new ResizeObserver(() => { line.hidden = wide.scrollWidth <= wide.clientWidth + 1; }).observe(wide);
    }

    document.addEventListener("DOMContentLoaded", () =>
        document.querySelectorAll(kWide).forEach(say));
})();
