// Full text over all pages, section by section, in the search field that Doxygen has put there. The
// index is made by lunr when the field is first used, from search_data.js, so it works from disk.
(function () {
    "use strict";

    const here = document.currentScript.src.replace(/search_pages\.js.*$/, "");
    const most = 15;  // results shown
    let entries = null, index = null, waiting = null;

    const load = (name) => new Promise((done, failed) => {
        const script = document.createElement("script");
        script.src = here + name;
        script.onload = done;
        script.onerror = failed;
        document.head.append(script);
    });

    window.searchData = (data) => {
        entries = data;
        lunr.tokenizer.separator = /[^\p{L}\p{N}_]+/u;
        index = lunr(function () {
            this.k1(2);
            this.b(0.2);  // a long section is as good as a short one
            this.ref("at");
            this.field("title", { boost: 6 });
            this.field("terms", { boost: 10 });  // what a section sets off: as a rule, what it explains
            this.field("parts", { boost: 2 });
            this.field("text", { boost: 2 });
            this.field("code", { boost: 0.2 });
            entries.forEach(([page, heading, , text, terms, code, weight], at) =>
                this.add({ at, title: heading || page, terms, text, code, parts: weight < 1 ? parts(terms) : "" }));
        });
    };

    // layer_norm_cpu is found as layer norm, and Layout::Layout as Layout constructor.
    const parts = (name) => name.replace(/_|::/g, " ") + (/(^|::)(\w+)::\2$/.test(name) ? " constructor" : "");

    // Names of the reference have no namespace: gpu::Launch is Launch.
    const withoutNamespaces = (typed) => typed.replace(/\b(?:[a-z]\w*::)+(?=\w)/g, "");

    // Whether the reference has what was typed, softmax_cuda or View::operator(), under this name.
    function named(name, typed) {
        const asked = typed.trim().replace(/(operator\(\))?(\(\))?$/, "$1");
        const score = name === asked ? 1e6 : name.replace(/_(cpu|cuda)$/, "") === asked ? 5e5 : name.endsWith("::" + asked) ? 1e5 : 0;
        return /[A-Z_]|::/.test(asked) && score;
    }

    // Each word, or one that begins with it, must be there.
    function find(words, typed) {
        const presence = lunr.Query.presence.REQUIRED;
        const terms = words.flatMap((word) => lunr.tokenizer(word)).filter(lunr.stopWordFilter)
            .map((token) => lunr.stemmer(token).toString());
        if (terms.length === 0) return [];
        const hits = index.query((query) => terms.forEach((term) => {
            query.term(term + "*", { presence, usePipeline: false });
            query.term(term, { boost: 3, usePipeline: false });
        }));
        const asked = words.join(" ");
        hits.forEach((hit) => {
            const [page, heading, , , terms, , weight] = entries[hit.ref];
            const title = (heading || page).toLowerCase();
            const whole = title === asked || title === asked + "s";  // the word itself, explained; or a page of this name
            const part = ` ${title.replace(/[,:]/g, "")} `.includes(` ${asked} `);
            hit.score *= weight * (weight < 1 ? 1 : whole ? 100 : !part ? 1 : heading ? 10 : 30);  // the reference has its own names
            if (weight < 1 && named(terms, typed)) hit.score = named(terms, typed) - hit.ref;  // overloads in their order
        });
        return hits.sort((a, b) => b.score - a.score).slice(0, most);
    }

    // A few words around the first place where one of the words stands, with it set off.
    function excerpt(text, words) {
        const wanted = new RegExp(words.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "i");
        const at = Math.max(0, text.search(wanted));
        const from = at < 60 ? 0 : text.indexOf(" ", at - 50) + 1;
        const box = document.createElement("span");
        const end = from + 150 < text.length ? text.lastIndexOf(" ", from + 150) : text.length;
        const cut = text.slice(from, end);
        const hit = cut.search(wanted);
        const length = hit < 0 ? 0 : cut.match(wanted)[0].length;
        const mark = document.createElement("mark");
        mark.textContent = cut.slice(Math.max(hit, 0), Math.max(hit, 0) + length);
        box.append((from ? "… " : "") + cut.slice(0, Math.max(hit, 0)), mark, cut.slice(Math.max(hit, 0) + length) + (end < text.length ? " …" : ""));
        return box;
    }

    function show(panel, typed) {
        const text = withoutNamespaces(typed);
        const words = text.toLowerCase().split(/\s+/).filter((word) => word.length > 1);
        panel.replaceChildren();
        panel.hidden = words.length === 0;
        if (panel.hidden) return;
        const hits = find(words, text);
        if (hits.length === 0) panel.textContent = "No page has this.";
        hits.forEach((hit) => {
            const [page, heading, url, prose, , code, weight] = entries[hit.ref];
            const link = document.createElement("a");
            const title = document.createElement("b");
            link.href = here + url;
            title.textContent = heading ? page + " › " + heading : page;
            link.append(title, excerpt((weight < 1 && prose) || !code || words.some((word) => prose.toLowerCase().includes(word)) ? prose : code, words));
            panel.append(link);
        });
    }

    function begin(more) {
        const old = document.getElementById("MSearchField");
        if (!old && more > 0) setTimeout(() => begin(more - 1), 50);  // Doxygen's menu is not there yet
        if (!old) return;
        const field = old.cloneNode();  // without Doxygen's listeners
        [...field.attributes].filter((a) => a.name.startsWith("on")).forEach((a) => field.removeAttribute(a.name));
        field.placeholder = "Search all pages";
        field.setAttribute("aria-label", "Search all pages");
        field.value = "";
        old.replaceWith(field);
        const panel = document.createElement("div");
        panel.id = "found";
        panel.hidden = true;
        document.body.append(panel);

        const search = () => {
            waiting = waiting || load("lunr.min.js").then(() => load("search_data.js"));
            waiting.then(() => show(panel, field.value));
        };
        field.addEventListener("focus", search);
        field.addEventListener("input", search);
        document.addEventListener("keydown", (event) => {
            const links = [...panel.querySelectorAll("a")];
            const at = links.indexOf(document.activeElement);
            const inside = document.activeElement === field || at >= 0;
            if (event.key === "/" && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) field.focus();
            else if (event.key === "Escape" && !panel.hidden) { panel.hidden = true; field.focus(); }
            else if (event.key === "Enter" && document.activeElement === field && links[0]) links[0].click();
            else if (event.key === "ArrowDown" && inside) (links[at + 1] || field).focus();
            else if (event.key === "ArrowUp" && inside) (links[at - 1] || field).focus();
            else return;
            event.preventDefault();
        });
        document.addEventListener("click", (event) => {
            if (event.target.closest("#found a")) panel.hidden = true;
            else if (!event.target.closest("#found") && event.target !== field) panel.hidden = true;
        });
    }

    window.addEventListener("load", () => begin(100));
})();
