// SPDX-License-Identifier: Apache-2.0
// Builds the page: answers and idle maps first, the timeline after the first frame, tabs when they
// are opened.
document.title = `${data.files.map((file) => file.file).join(', ')} · Epilogue`;

const tabs = new Tabs();
if (isPair) tabs.add('differences', 'Differences', differencesSection);
const hasKernels = data.files.some((file) => file.kernels.length > 0);
if (hasKernels) tabs.add('kernels', 'Kernels', kernelsTable);
tabs.add('table', 'Profiler table', profilerTable);
tabs.add('steps', 'Steps', stepsTable);
tabs.add('tree', 'Tree', treeSection);
if (data.files.some((file) => file.gemms.rows.length > 0)) tabs.add('gemms', 'GEMMs', gemmsTable);
if (hasKernels) tabs.add('breakdown', 'Breakdown', breakdownSection);
tabs.add('advice', 'Advice', adviceSection);
tabs.add('quality', 'Trace quality', qualitySection);

const search = new Search(tabs);
document.getElementById('header').append(search.element, themeButton());
const idle = idleMaps();
const timelinePlace = make('section', { id: 'timeline', 'aria-label': 'Timeline' });
const work = make('section', { id: 'work', 'aria-label': 'GPU work and advice' },
  sideBySide(workAndAdvice));
document.getElementById('main').append(answersSection(), work, idle.section, timelinePlace,
  tabs.element);
document.getElementById('main').classList.toggle('two', isPair);

requestAnimationFrame(() => setTimeout(() => {
  timelines = new Timelines(data.files, idle.maps);
  timelines.search = search;
  timelines.link = new DeepLink(tabs, search);
  timelinePlace.replaceWith(timelineSection(timelines));
  new Keys(timelines);
  tabs.open(isPair ? 'differences' : hasKernels ? 'kernels' : 'table');
  window.addEventListener('beforeprint', () => tabs.print(true));
  window.addEventListener('afterprint', () => tabs.print(false));
  if (location.hash.length > 1) timelines.link.restore();
  tabs.onChange = timelines.onDraw = () => timelines.link.save();
  timelines.drawNow();
  window.epilogue = timelines;  // for tests and for the console
}));
