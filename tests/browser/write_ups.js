/* What is seen of a write-up on a screen, which counts of its badge are on two lines, and which quantities. */
(what) => {
const see = () => {
    const all = (parts) => [...document.querySelectorAll(parts)];
    const box = (node) => node.getBoundingClientRect();
    const size = (node) => getComputedStyle(node).fontSize;
    const shown = (node) => node.checkVisibility({ checkVisibilityCSS: true, contentVisibilityAuto: true });
    const stops = all("a[href], button, input, summary, [tabindex]")
        .filter((node) => node.tabIndex >= 0 && !node.disabled && shown(node)).length;
    const made = ".rg-figure, .rg-stack, .rg-panels, .rg-result, .rg-observations, .rg-head, .rg-overview, "
        + ".rg-checked, .rg-verdict";
    const texts = document.createTreeWalker(document.querySelector("main article"), NodeFilter.SHOW_TEXT);
    let [words, machine] = [0, 0];
    while (texts.nextNode()) {
        const { parentElement: parent, textContent } = texts.currentNode;
        if (!shown(parent) || parent.closest(".rg-unseen, script, style, svg")) continue;
        const found = textContent.match(/\p{L}{2,}/gu)?.length ?? 0;
        words += found;
        if (parent.closest(made)) machine += found;
    }
    const notes = all(":is(.rg-figure, .rg-stack, .rg-result) .rg-notes").filter(shown);
    const table = document.querySelector(".rg-figure .rg-data tbody").textContent;
    return {
        stops, words, machine, table,
        verdict: size(document.querySelector(".rg-claim")),
        values: all(".rg-quantity").map((node) => [size(node), box(node).height < 30]),
        claim: document.querySelector(".rg-claim").textContent,
        notes: notes.map((node) => [box(node).height, node.innerText]),
        plot: box(document.querySelector(".rg-plot")).bottom,
        crumbs: all(".rg-breadcrumbs").length,
        height: document.documentElement.scrollHeight,
        prose: document.querySelector("main article").innerText,
        quantities: all(".rg-prose > p").map((one) => one.innerText).join(" "),
    };
};

const findBrokenCounts = () => {
    const badge = document.querySelector(".rg-badge"), found = [];
    for (let room = badge.clientWidth; room > 200; room -= 10) {
        badge.style.width = `${room}px`;
        for (const count of badge.querySelectorAll(":scope > a > :is(span, strong)"))
            if (count.getClientRects().length !== 1) found.push(`${count.textContent} in ${room} px`);
    }
    badge.style.width = "";
    return found;
};

const findBreaks = () => {
    const number = String.raw`[−+]?\d[\d,.]*%?(?:\s(?:points|runs|problems|samples))?(?:\s\[[^\]\n]+\])?`;
    const quantity = new RegExp(`${number}|p\\s[=<>]\\s[\\d.]+`, "g");
    const texts = document.createTreeWalker(document.querySelector("main article"), NodeFilter.SHOW_TEXT);
    const found = [];
    while (texts.nextNode()) {
        const { parentElement: parent, textContent } = texts.currentNode;
        const made = ".rg-figure, .rg-stack, .rg-panels, .rg-result, .rg-evidence, .rg-bound";
        if (!parent.closest(made) || parent.closest("svg, td, script, .rg-unseen")) continue;
        for (const match of textContent.matchAll(quantity)) {
            const range = document.createRange();
            range.setStart(texts.currentNode, match.index);
            range.setEnd(texts.currentNode, match.index + match[0].length);
            const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
            if (lines.size > 1) found.push(match[0]);
        }
    }
    return found;
};

return { see, findBrokenCounts, findBreaks }[what]();
}
