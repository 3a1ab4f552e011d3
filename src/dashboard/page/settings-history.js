import { el, setChildren } from './dom.js'
import { count, moment, spelled } from './format.js'
import { numbersText, valueText, whyOf } from './in-force.js'
import { undoDialog } from './undo-dialog.js'

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

  function undo({ id: change, by, reason }) {
    undoDialog({
      title: `Undo the change by ${spelled(by)}, “${spelled(reason)}”`,
      done: `Undone: the change by ${by} in ${limiter}.`,
      ...{ limiter, change, actions, onDone },
    })
  }

  function item(change, canChange) {
    const { parts, partCount = 0, undoes } = change
    const listed = parts?.slice(0, MAX_PARTS) ?? []
    const rest = partCount - listed.length
    const label = `Undo the change by ${change.by}: ${change.reason}`
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
      canChange && parts !== undefined
        ? el(
            'button',
            { type: 'button', class: 'undo', 'aria-label': label, onclick: () => undo(change) },
            'Undo',
          )
        : undefined,
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

/** Returns a part of a document in words. */
export function partText(value) {
  if (value === undefined) return 'as in the code'
  if (typeof value === 'string') return valueText({ value })
  const { block, exempt, limits, until } = value
  const isOverride = block || exempt || limits !== undefined
  if (!isOverride) return numbersText(value)
  const effect = block ? 'blocked' : exempt ? 'exempt' : valueText({ value: limits })
  return until === undefined ? effect : `${effect} until ${moment(Date.parse(until) || until)}`
}
