import { el } from './dom.js'
import { spelled } from './format.js'
import { partText } from './settings-history.js'

/** Returns what another operator has changed meanwhile, and what to do about it. */
export function conflictTexts({ conflicts, message }, loadTheirs) {
  const lines = conflicts.map((conflict) => {
    const { path, before, yours } = conflict
    const differs = `${theirText(conflict)} Yours is ${partText(yours)}.`
    return el('li', {}, spelled(`${path}: it was ${partText(before)}. ${differs}`))
  })
  return [
    el(
      'p',
      {},
      'Another operator has changed the same settings since you opened this page. Nothing has been saved.',
    ),
    lines.length > 0 ? el('ul', {}, ...lines) : el('p', {}, message),
    el('p', {}, 'Save anyway to replace their values with yours, or load theirs.'),
    el('button', { type: 'button', onclick: loadTheirs }, 'Load theirs'),
  ]
}

/** Returns what another operator has changed meanwhile, in a sentence. */
export function theirText({ theirs, change }) {
  const who = change === undefined ? 'Another operator' : `${change.by} (“${change.reason}”)`
  return `${who} changed it to ${partText(theirs)}.`
}
