// Writes the CC0 and MIT decks of npm as SVG files: node render_art.mjs OUT (run by art.py, in the folder of node_modules).
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.cwd(), "package.json"));
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const out = process.argv[2];
const RANKS = "23456789TJQKA";
const SUITS = "cdhs";

function deck(name, draw) {
  mkdirSync(join(out, name), { recursive: true });
  for (const rank of RANKS)
    for (const suit of SUITS) writeFileSync(join(out, name, `${rank}${suit}.svg`), draw(rank, suit));
}

// @letele/playing-cards (CC0-1.0): React components, drawn by React's own server renderer.
const React = await load("react");
const { renderToStaticMarkup } = await load("react-dom/server");
const letele = await import(pathToFileURL("node_modules/@letele/playing-cards/dist/index.esm.js").href);
deck("letele", (rank, suit) => {
  const part = { T: "10", J: "j", Q: "q", K: "k", A: "a" }[rank] ?? rank;
  return renderToStaticMarkup(React.createElement(letele[suit.toUpperCase() + part]));
});

// @heruka_urgyen/react-playing-cards (MIT): files, two- and four-colour, standard and jumbo.
for (const style of ["2color", "2color-bf", "4color", "4color-bf"])
  deck(`heruka_${style}`, (rank, suit) =>
    readFileSync(
      `node_modules/@heruka_urgyen/react-playing-cards/src/images/${style}/${rank}${suit.toUpperCase()}.svg`,
    ),
  );

// poker-cards (MIT): drawn from parameters.
const { renderCard } = await import(pathToFileURL("node_modules/poker-cards/dist/index.js").href);
deck("pokercards", (rank, suit) => renderCard({ cid: rank + suit.toUpperCase() }));
