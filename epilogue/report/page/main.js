// SPDX-License-Identifier: Apache-2.0
// Builds the page: answers and idle maps first, the timeline after the first frame, tabs when they
// are opened.
document.title = `${data.files.map((file) => file.file).join(', ')} · Epilogue`;

const tabs = new Tabs();
if (isPair) tabs.add('differences', 'Differences', differencesSection);
tabs.add('kernels', 'Kernels', kernelsTable);
tabs.add('table', 'Profiler table', profilerTable);
tabs.add('steps', 'Steps', stepsTable);
tabs.add('tree', 'Tree', treeSection);
tabs.add('gemms', 'GEMMs', gemmsTable);
tabs.add('breakdown', 'Breakdown', breakdownSection);
tabs.add('advice', 'Advice', adviceSection);
tabs.add('quality', 'Trace quality', qualitySection);

const search = new Search(tabs);
document.getElementById('header').append(search.element, themeButton());
const idle = idleMaps();
const timelinePlace = make('section', { id: 'timeline', 'aria-label': 'Timeline' });
const work = make('section', { id: 'work', 'aria-label': 'GPU work and advice' },
  sideBySide(workAndAdvice));
document.getElementById('main').append(answersSection(), idle.section, timelinePlace, work,
  tabs.element);
document.getElementById('main').classList.toggle('two', isPair);

requestAnimationFrame(() => setTimeout(() => {
  timelines = new Timelines(data.files, idle.maps);
  timelines.search = search;
  timelines.link = new DeepLink(tabs, search);
  timelinePlace.replaceWith(timelineSection(timelines));
  tabs.open(isPair ? 'differences' : 'kernels');
  if (location.hash.length > 1) timelines.link.restore();
  tabs.onChange = timelines.onDraw = () => timelines.link.save();
  timelines.drawNow();
  window.epilogue = timelines;  // for tests and for the console
}));
