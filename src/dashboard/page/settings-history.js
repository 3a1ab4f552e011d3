import { el, setChildren } from './dom.js'
import { count, spelled } from './format.js'
import { partText, whyOf } from './part-text.js'
import { changeWords, undoButton } from './undo.js'

const MAX_PARTS = 5

/** Creates the list of the changes of a limiter's settings, each with what it changed, and undo. */
export function historyPanel({ limiter, actions, onDone }) {
  const list = el('ol', { class: 'changes' })
  const element = el(
    'section',
    { class: 'panel', 'aria-labelledby': 'history-title' },
    el('h2', { id: 'history-title' }, 'History'),
    list,
  )

  function undoOf({ id: change, by, reason }) {
    const what = changeWords(spelled(by), `“${spelled(reason)}”`)
    const label = `Undo the change by ${by}: ${reason}`
    return undoButton(label, { limiter, what, body: { change } }, { actions, onDone })
  }

  function item(change, canChange) {
    const { parts, partCount = 0, undoes } = change
    const listed = parts?.slice(0, MAX_PARTS) ?? []
    const rest = partCount - listed.length
    return el(
      'li',
      {},
      el('p', {}, whyOf(change), undoes === undefined ? '' : ' (undid a change)'),
      el(
        'ul',
        {},
        ...listed.map(({ path, before, after }) =>
          el('li', {}, `${spelled(path)}: ${partText(before)} → ${partText(after)}`),
        ),
        rest > 0 ? el('li', {}, `and ${count(rest)} more`) : undefined,
      ),
      canChange && listed.length > 0 && undoOf(change),
    )
  }

  return {
    element,
    show(changes, canChange) {
      setChildren(list, `${canChange}/${changes.map(({ id }) => id).join()}`, () =>
        changes.length === 0
          ? [el('li', { class: 'quiet' }, 'No changes yet.')]
          : changes.map((change) => item(change, canChange)),
      )
    },
  }
}
