import { changeButtons } from './change-buttons.js'
import { el, setText } from './dom.js'
import { count, counted, withTimes } from './format.js'

/** The most clients of one change. */
const MAX_SELECTED = 1000

/** Creates the bar of what can be done to the selected clients of a limiter, or to a network if no client is selected. */
export function selectionBar({ limiter, actions, onDone, onClear }) {
  const number = el('b', {})
  const status = el('p', { class: 'done', role: 'status' })
  const buttons = changeButtons({
    actions,
    start,
    onDone(done) {
      onClear()
      onDone(done)
    },
  })
  const copy = button('Copy', async () => {
    await navigator.clipboard.writeText(identities.join('\n'))
    setText(
      status,
      `Copied ${identities.length === 1 ? '1 identity' : `${count(identities.length)} identities`}.`,
    )
  })
  const clear = button('Clear', onClear)
  const bar = el('div', { class: 'selection', hidden: true }, number, buttons.element, copy, clear)
  const element = el('div', { class: 'selection-holder' }, status, bar)
  let identities = []
  let network = ''
  let reason = ''

  function start() {
    if (identities.length === 0) return { targets: [{ network }], who: network, reason }
    if (identities.length > MAX_SELECTED) {
      setText(status, `Select at most ${count(MAX_SELECTED)} clients, or search for their network.`)
      return undefined
    }
    const who = identities.length === 1 ? identities[0] : counted(identities.length, 'client')
    return { targets: identities.map((identity) => ({ storedIdentity: identity })), who, reason }
  }

  return {
    element,
    show(clients, searched, { session, rows }) {
      const row = rows.get(limiter)
      identities = Array.from(new Set(clients.map(({ identity }) => identity)))
      network = searched
      const isOfClients = clients.length > 0
      bar.hidden = !isOfClients && (network === '' || !session.canChange)
      copy.hidden = clear.hidden = !isOfClients
      setText(number, isOfClients ? `${counted(clients.length, 'client')} selected` : `Network ${network}`)
      buttons.show(row, session.canChange, !isOfClients)
      const { level, sentence, reason: suggested = sentence } = row?.finding ?? { level: 'calm' }
      reason = level === 'calm' ? '' : withTimes(suggested)
    },
  }
}

function button(text, onclick) {
  return el('button', { type: 'button', onclick }, text)
}
