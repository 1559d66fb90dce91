// SPDX-License-Identifier: Apache-2.0
// The section of the timeline: controls, lanes, legend, help.

const KEYS = [['W, S', 'zoom in, out'], ['A, D', 'move left, right'],
  ['F', 'zoom to what is selected, or to everything'],
  ['M', 'mark what is selected as a range, and sum it up'],
  ['← →', 'previous, next event'],
  ['↑ ↓', 'from a kernel to its launch and operator, and back'],
  ['Esc', 'clear the selection'], ['/', 'search'], ['Enter, Shift+Enter', 'next, previous match'],
  ['drag', 'mark a range; with Shift, or by touch: move'],
  ['wheel', 'zoom, after a click into the timeline or with Ctrl'],
  ['click on a title', 'fold or unfold a lane']];

function helpDialog() {
  const dialog = make('dialog', { 'aria-label': 'keys', onclick: (event) => {
    if (event.target === dialog) dialog.close();
  } }, make('h2', {}, 'Keys'),
  make('dl', {}, ...KEYS.flatMap(([keys, text]) => [make('dt', {}, keys), make('dd', {}, text)])),
  button('close', () => dialog.close()));
  return dialog;
}

// The kinds of kernels that occur.
function kindLegend(group) {
  const present = new Set(group.views.flatMap((view) => view.events.kinds));
  return make('div', { class: 'legend' },
    ...data.kinds.filter((one, i) => present.has(i)).map(({ key, what }) => legendItem(key, '', what)),
    legendItem('host', '', 'host'));
}

// Folds and unfolds lanes by keyboard.
function laneMenu(group) {
  const box = make('details', { class: 'menu' }, make('summary', {}, 'lanes'));
  const list = make('div', { class: 'menu-list' }, ...group.views.flatMap((view, i) =>
    view.lanes.map((lane) => {
      const check = make('input', { type: 'checkbox', onchange: () => view.toggle(lane) });
      check.checked = !lane.collapsed;
      box.addEventListener('toggle', () => { check.checked = !lane.collapsed; });
      return make('label', {}, check, `${isPair ? 'AB'[i] + ' · ' : ''}${lane.title}`);
    })));
  box.append(list);
  const close = () => { box.open = false; };
  box.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    close();
  });
  document.addEventListener('click', (event) => { if (!box.contains(event.target)) close(); });
  return box;
}

function timelineSection(group) {
  const hasSteps = group.views.some((view) => view.steps.length > 0);
  const help = helpDialog();
  const saveSvg = () => group.views.forEach((view, i) =>
    saveFile(`${data.files[i].file.replace(/^.*\//, '')}.svg`, 'image/svg+xml', view.svg()));
  const share = button('copy link', () => {
    history.replaceState(null, '', group.link.hash());
    copyText(location.href, share);
  }, 'copy link to this view');
  const tools = make('div', { class: 'tools no-print' },
    button('all', () => group.reset(), 'show all'),
    button('+', () => group.zoom(1 / 2, 0.5), '+ zoom in'),
    button('−', () => group.zoom(2, 0.5), '− zoom out'));
  if (group.views.some((view) => view.events.gaps.some((gaps) => gaps.strip.at.length > 0))) {
    tools.append(...group.views.map((view, i) => button(isPair ? `longest gap ${'AB'[i]}`
      : 'longest gap', () => group.showLongestGap(view))));
  }
  if (hasSteps) {
    const by = (step) => () => group.goToStep(group.shownStep + step);
    tools.append(button('‹ step', by(-1), 'previous ‹ step'), button('step ›', by(1), 'next step ›'),
      group.stepName);
  }
  tools.append(laneMenu(group), share, button('SVG', saveSvg, 'save the view as SVG'),
    button('?', () => help.showModal(), 'keys ?'), kindLegend(group));
  const lanes = data.files.map((file, i) => make('div', {},
    isPair ? make('h3', {}, fileTitle(i)) : null, group.views[i].box));
  const notes = isPair ? [quiet('Kernels that only one of the two traces has are underlined.')] : [];
  group.help = help;
  return make('section', { id: 'timeline', 'aria-label': 'Timeline' }, tools, ...lanes, ...notes,
    group.detail, group.tip, help);
}
