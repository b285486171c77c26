/* What axe-core objects to in a page or these parts of it, and the kinds of texts whose contrast was tested.

   Contrast takes axe-core longer than everything else together, and is the same for all texts of one colour and
   size on one ground: it gets one text of each new kind. Only colours differ between light and dark. */
async ([context, onlyColours, known]) => {
  // Waiting for their end would take for ever where the browser draws no frames.
  document.getAnimations().forEach((fading) => fading.finish());
  const grounds = new Map([[null, ""]]);
  const groundOf = (node) => {
    if (!grounds.has(node)) {
      const { backgroundColor: colour, backgroundImage: image, opacity } = getComputedStyle(node);
      const clear = colour === "rgba(0, 0, 0, 0)" && image === "none" && opacity === "1";
      const own = clear ? "" : [colour, image, opacity];
      grounds.set(node, `${own}/${groundOf(node.parentElement)}`);
    }
    return grounds.get(node);
  };
  const kindOf = (node) => {
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(node);
    const link = node.closest("a"), around = link?.parentElement;
    const line = link && getComputedStyle(link).textDecoration;
    const linked = link && [line, getComputedStyle(around).color, around.localName];
    return [node.localName, color, fontSize, fontWeight, textShadow, groundOf(node), linked].join();
  };
  const kinds = new Map();
  for (const node of document.querySelectorAll("body *")) {
    if (context && !context.some((part) => node.closest(part))) continue;
    if (![...node.childNodes].some((one) => one.nodeType === Node.TEXT_NODE && one.data.trim())) continue;
    if (node.checkVisibility({ visibilityProperty: true })) kinds.set(kindOf(node), node);
  }
  const OF_COLOURS = ["color-contrast", "link-in-text-block"];
  const always = { resultTypes: ["violations"], preload: false };
  known.forEach((kind) => kinds.delete(kind));
  const runs = kinds.size ? [[{ include: [...kinds.values()] }, { runOnly: OF_COLOURS }]] : [];
  const others = Object.fromEntries(OF_COLOURS.map((rule) => [rule, { enabled: false }]));
  if (!onlyColours) runs.push([context ? context.map((part) => [part]) : document, { rules: others }]);
  const found = [];
  for (const [where, options] of runs) {
    const { violations } = await axe.run(where, { ...always, ...options });
    found.push(...violations);
  }
  return [found.map(({ id, nodes }) => `${id}: ${nodes[0].html}`), [...kinds.keys()]];
}
