// SPDX-License-Identifier: Apache-2.0
// What is read first is there first; the timeline, and the tree of its events, follow.
document.title = `${data.files.map((file) => file.file).join(', ')} · Epilogue`;
verdictSection();
stepsSection();
changesSection();
tableSection();
kernelsSection();
const treePlace = section('tree', 'Tree');
idleSection();
adviceSection();
requestAnimationFrame(() => setTimeout(() => {
  timelines = new Timelines(data.files);
  treePlace.append(sideBySide((file, i) => tree(timelines.views[i])));
  timelineSection(timelines);
  window.epilogue = timelines;  // for tests, and for the curious
}));
