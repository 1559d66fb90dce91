// SPDX-License-Identifier: Apache-2.0
// Builds the sections in reading order. The timeline, and the tree of its events, are built after
// the first frame.
document.title = `${data.files.map((file) => file.file).join(', ')} · Epilogue`;
verdictSection();
stepsSection();
changesSection();
tableSection();
kernelsSection();
const treeSection = section('tree', 'Operator tree');
idleSection();
adviceSection();
requestAnimationFrame(() => setTimeout(() => {
  timelines = new Timelines(data.files);
  treeSection.append(sideBySide((file, i) => tree(timelines.views[i])));
  timelineSection(timelines);
  window.epilogue = timelines;  // for tests and for the console
}));
