import { el, setAttribute, setText } from './dom.js'
import { age, moment, percent } from './format.js'
import { keyedList } from './keyed-list.js'

const STATES = {
  alive: 'alive',
  closed: 'closed',
  gone: 'gone without being closed',
  replaced: 'replaced by another process',
}

/** Creates the view of the processes that report, and of those that ended within the last hour. */
export function processesView() {
  const body = el('tbody')
  const title = el('p', { class: 'lead' })
  const showRows = keyedList(body, processRow)
  const heads = ['process', 'version', 'state', 'started', 'last seen', 'share of traffic']
  const element = el(
    'section',
    { class: 'page', 'aria-labelledby': 'processes-title' },
    el('h1', { id: 'processes-title', tabindex: '-1' }, 'Processes'),
    title,
    el(
      'div',
      { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': 'Processes' },
      el(
        'table',
        { class: 'processes' },
        el('thead', {}, el('tr', {}, ...heads.map((head) => el('th', { scope: 'col' }, head)))),
        body,
      ),
    ),
  )

  function show({ processes, atMs }) {
    const alive = processes.filter(({ state }) => state === 'alive').length
    const ended = processes.length - alive
    const rest = ended === 0 ? '' : `; ${ended} ended within the last hour`
    setText(title, processes.length === 0 ? 'Waiting for the first figures…' : `${alive} alive${rest}.`)
    showRows(processes.map((process) => [process.id, process]))
    for (const row of body.children) row.showAge(atMs)
  }

  return { element, show }
}

function processRow() {
  const cells = Array.from({ length: 5 }, () => el('td', {}))
  const [name, version, state, started, seen] = cells
  const bar = el('progress', { max: '1' })
  const share = el('span', { class: 'number' })
  const dot = el('span', { class: 'dot', 'aria-hidden': 'true' })
  const host = el('b', {})
  const pid = el('span', { class: 'quiet' })
  const own = el('span', { class: 'badge' }, 'serves this page')
  const stateText = el('span', {})
  name.append(host, ' ', pid, ' ', own)
  state.append(dot, stateText)
  const element = el('tr', {}, ...cells, el('td', { class: 'share' }, bar, share))
  let shown

  function show(process) {
    shown = process
    element.className = `is-${process.state}`
    setText(host, process.host)
    setText(pid, `pid ${process.pid}`)
    own.hidden = !process.isThis
    setText(version, process.version || '–')
    setText(stateText, STATES[process.state])
    setText(started, moment(process.startedAtMs))
    const part = percent(process.share)
    setAttribute(bar, 'value', process.share.toFixed(3))
    setAttribute(bar, 'aria-label', `Share of traffic: ${part}`)
    setText(share, part)
  }

  element.showAge = (atMs) => {
    const ms = atMs - shown.lastSeenMs
    setText(seen, ms < 15_000 ? 'now' : `${age(ms)} ago`)
  }
  return { element, show }
}
