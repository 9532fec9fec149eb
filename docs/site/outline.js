// The contents of the page: open where there is room beside the text, else a line that names the
// section in sight and opens when it is asked for.
(function () {
    "use strict";

    document.addEventListener("DOMContentLoaded", () => {
        const outline = document.querySelector("details.outline");
        if (!outline) return;
        const line = outline.querySelector("summary");
        const wide = window.matchMedia("(min-width: 1500px)");
        const fit = () => { outline.open = wide.matches; };
        wide.addEventListener("change", fit);
        fit();
        const parts = [...outline.querySelectorAll("a")].map((link) =>
            [link, document.getElementById(decodeURIComponent(link.hash.slice(1)))]).filter(([, at]) => at);
        outline.addEventListener("click", (event) => {
            if (event.target.closest("a") && !wide.matches) outline.open = false;
        });
        const follow = () => {
            const top = wide.matches ? 60 : line.getBoundingClientRect().bottom + 60;
            const passed = parts.filter(([, at]) => at.getBoundingClientRect().top < top);
            const [now] = passed[passed.length - 1] || [null];
            parts.forEach(([link]) => link.classList.toggle("now", link === now));
            line.textContent = now && !wide.matches ? "On this page: " + now.textContent : "On this page";
        };
        document.addEventListener("scroll", follow, { capture: true, passive: true });
        follow();
    });
})();
