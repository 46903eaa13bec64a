// The order of what a search finds (html_search_scorer): pages with tasks first, then reference, reports and folders.
// The figures are Sphinx's own defaults; only `score` differs.
// biome-ignore lint/correctness/noUnusedVariables: Sphinx uses it
var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: ([page, , , , score]) => {
    const task = /^(dealer|floor|technician|pit|auditor)\/(?!sources|limits)|^(install|calibration|evidence)$/;
    return task.test(page) ? score + 20 : score;
  },
};
