import { el } from './dom.js'
import { spelled } from './format.js'
import { partText } from './part-text.js'

/** Returns what another operator has changed meanwhile, and what to do about it. */
export function conflictTexts(conflict, loadTheirs) {
  return [
    el(
      'p',
      {},
      'Another operator has changed the same settings since you opened this page. Nothing has been saved.',
    ),
    conflictLines(conflict, 'Yours is'),
    el('p', {}, 'Save anyway to replace their values with yours, or load theirs.'),
    el('button', { type: 'button', onclick: loadTheirs }, 'Load theirs'),
  ]
}

/** Returns the difference of each part that others have changed. `yoursIs` introduces the value that was rejected. */
export function conflictLines({ conflicts, message }, yoursIs) {
  if (conflicts.length === 0) return el('p', {}, spelled(message))
  const lines = conflicts.map((conflict) => {
    const { path, before, yours } = conflict
    const differs = `${theirText(conflict)} ${yoursIs} ${partText(yours)}.`
    return el('li', {}, spelled(`${path}: it was ${partText(before)}. ${differs}`))
  })
  return el('ul', {}, ...lines)
}

/** Returns what another operator has changed meanwhile, in a sentence. */
export function theirText({ theirs, change }) {
  const who = change === undefined ? 'Another operator' : `${change.by} (“${change.reason}”)`
  return `${who} changed it to ${partText(theirs)}.`
}
