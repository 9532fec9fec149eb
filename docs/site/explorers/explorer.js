// What the live pictures share: elements, fields, the frame around a picture. A kind of picture is
//   explorer.kinds.name = {title, start, presets, fields, read, draw}
// and stands where a page has <div class="explorer" id="explorer_name" data-explorer="name">.
var explorer = (function () {
    "use strict";

    const kinds = {};

    // make("p", {class: "note", onclick: f}, "text", child)
    function make(tag, attributes = {}, ...children) {
        const element = document.createElement(tag);
        for (const [name, value] of Object.entries(attributes)) {
            if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
            else element.setAttribute(name, value);
        }
        element.append(...children);
        return element;
    }

    // --- fields --------------------------------------------------------------------------------------

    // A number can be typed, dragged sideways, and moved by the arrow keys.
    function number_field({name}, change) {
        const input = make("input", {type: "text", size: 4, name, autocomplete: "off",
            title: "type, drag sideways, or use the arrow keys"});
        const move = (from, by) => change(String((Number(from.replace("\u2212", "-")) || 0) + by));
        input.addEventListener("input", () => change(input.value));
        input.addEventListener("keydown", (event) => {
            const by = {ArrowUp: 1, ArrowDown: -1}[event.key];
            if (!by) return;
            event.preventDefault();
            move(input.value, by);
        });
        input.addEventListener("pointerdown", (event) => {
            if (event.button !== 0 || document.activeElement === input) return;
            event.preventDefault();
            const from = input.value;
            drag(event, (by) => move(from, by), () => (input.focus(), input.select()));
        });
        return input;
    }

    // Until the finger or button is up: `moved` by one for every 10 pixels, or `still`, if it was a press.
    function drag({clientX: start}, moved, still) {
        let away = false;
        const over = new AbortController();
        const on = (name, f) => document.addEventListener(name, f, {signal: over.signal});
        on("pointermove", (event) => {
            const way = event.clientX - start;
            away = away || Math.abs(way) > 5;
            if (away) moved(Math.round(way / 10));
        });
        on("pointerup", () => {
            over.abort();
            if (!away) still();
        });
        on("pointercancel", () => over.abort());
    }

    function choice_field({name, choices}, change) {
        const input = make("select", {name}, ...choices.map(([value, text]) => make("option", {value}, text)));
        input.addEventListener("change", () => change(input.value));
        return input;
    }

    // A group of fields with one sentence below it for all that is wrong in it.
    function group_of(fields, state, kind, changed) {
        const wrong = make("p", {class: "wrong", "aria-live": "polite", id: `${kind.name}_${fields[0].name}_wrong`});
        const inputs = fields.map((field) => {
            const input = (field.choices ? choice_field : number_field)(field, (text) => {
                kind.set(state, field.name, text);
                changed();
            });
            input.id = `${kind.name}_${field.name}`;
            input.setAttribute("aria-describedby", wrong.id);
            return [field, input];
        });
        const show = (sentences) => {
            for (const [{name}, input] of inputs) {
                const text = kind.get(state, name);
                if (input.value !== text) input.value = text;
                input.setAttribute("aria-invalid", name in sentences);
            }
            wrong.textContent = inputs.map(([{name}]) => sentences[name]).filter(Boolean).join(". ");
        };
        return {inputs, wrong, show};
    }

    // --- cells that can be pointed at ----------------------------------------------------------------

    // The cells of `box` have data-n; go(n) is called for the one under the mouse, finger or keys.
    // `steps` says how far a key goes, given n; `count` how many there are.
    function walkable(box, label, {steps, count, at, go}) {
        box.tabIndex = 0;
        box.setAttribute("role", "group");
        box.setAttribute("aria-label", label + ". The arrow keys walk from cell to cell.");
        const point = (event) => {
            const cell = event.target.closest("[data-n]");
            if (cell && box.contains(cell)) go(Number(cell.dataset.n));
        };
        box.addEventListener("pointerover", point);
        box.addEventListener("click", point);
        box.addEventListener("keydown", (event) => {
            const step = steps()[event.key];
            if (step === undefined) return;
            event.preventDefault();
            const next = at() + step;
            if (0 <= next && next < count()) go(next);
            const cell = box.querySelector(".lit");
            if (cell) cell.scrollIntoView({block: "nearest", inline: "nearest"});
        });
        return box;
    }

    function light(root, cells) {
        root.querySelectorAll(".lit").forEach((cell) => cell.classList.remove("lit"));
        cells.forEach((cell) => cell.classList.add("lit"));
    }

    // --- the frame -----------------------------------------------------------------------------------

    const plain = {get: (state, name) => state[name], set: (state, name, text) => state[name] = text};

    function build(box) {
        const name = box.dataset.explorer;
        const kind = {...plain, ...kinds[name], name};
        const state = explore_inputs.state_of(location.search, name, kind.start);
        const controls = make("div", {class: "controls"});
        const all = make("p", {class: "wrong", "aria-live": "polite"});
        const stage = make("div", {class: "stage"});
        const link = make("a", {}, "Link to this state");
        const root = make("section", {class: "live", "aria-label": kind.title},
            make("p", {class: "title"}, kind.title), presets(), controls, all, stage,
            make("p", {class: "link"}, link));
        const draw = kind.draw(stage);
        let groups = [], shown = "";

        function presets() {
            return make("p", {class: "presets"}, ...Object.entries(kind.presets).map(([label, change]) =>
                make("button", {type: "button", onclick: () => {
                    Object.assign(state, kind.start, change);
                    changed();
                }}, label)));
        }

        // Fields are made anew only if there are others now, so that the one in use stays.
        function changed() {
            const fields = kind.fields(state);
            if (JSON.stringify(fields) !== shown) {
                shown = JSON.stringify(fields);
                groups = fields.map((group) => group_of(group.fields, state, kind, changed));
                controls.replaceChildren(...groups.map(({inputs, wrong}, i) => make("div",
                    {class: "group", role: "group", "aria-label": fields[i].label},
                    make("span", {class: "label"}, fields[i].label),
                    ...inputs.map(([field, input]) => make("span", {class: "field"},
                        make("label", {for: input.id}, field.label), " ", input)), wrong)));
                if (kind.more) controls.append(kind.more(state, changed));
            }
            const result = kind.read(state);
            groups.forEach((group) => group.show(result.wrong));
            all.textContent = result.wrong.all || "";
            const good = Object.keys(result.wrong).length === 0;
            stage.classList.toggle("stale", !good);
            if (good) draw(result);
            link.href = explore_inputs.link_of(name, state);
        }
        draw(kind.read(kind.start));  // should a link hold what cannot be drawn
        changed();
        box.append(root);
    }

    document.addEventListener("DOMContentLoaded", () =>
        document.querySelectorAll(".explorer[data-explorer]").forEach(build));

    return {kinds, make, walkable, light};
})();
