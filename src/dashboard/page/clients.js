import { clientRow } from './client-row.js'
import { el, setText } from './dom.js'
import { count, counted, isNetwork } from './format.js'
import { holdOf } from './hold.js'
import { keyedList } from './keyed-list.js'
import { selectionBar } from './selection.js'
import { searchField } from './toolbar.js'

const HEADS = [
  ['client', 'client'],
  ['denied', 'denied'],
  ['when', 'denied between'],
  ['from', 'from'],
]

/** Creates the list of the clients that a limiter denies, with a search and a selection. */
export function clientsPanel(limiter, { go, actions, onDone }) {
  const selected = new Map()
  const search = searchField('Search clients, routes, networks', (text) => go({ search: text }))
  const title = el('h2', { id: 'clients-title' }, 'Denied clients, last 15 minutes')
  const summary = el('p', { class: 'quiet' })
  const body = el('tbody')
  const all = el('input', {
    type: 'checkbox',
    'aria-label': 'Select all listed clients',
    onchange: selectAll,
  })
  const isHeld = holdOf(body)
  const showRows = keyedList(body, () => clientRow({ onSelect: select, onNetwork }))
  const heads = HEADS.map(([name, text]) => el('th', { scope: 'col', class: name }, text))
  const table = el(
    'table',
    { class: 'clients', hidden: true },
    el('thead', {}, el('tr', {}, el('td', { class: 'pick' }, all), ...heads)),
    body,
  )
  const bar = selectionBar({ limiter, actions, onDone, onClear: () => selectNone() })
  const element = el(
    'section',
    { class: 'panel clients-panel', 'aria-labelledby': 'clients-title' },
    el('div', { class: 'toolbar' }, title, summary, el('span', { class: 'grow' }), search.element),
    table,
    bar.element,
  )
  let searched = ''
  let shownModel
  /** The row that was selected last, from which a range starts. */
  let anchor

  /** Selects the client of a row; all from the last row on if it is the end of a range. */
  function select(row, isOn, isRange) {
    const rows = Array.from(body.children)
    const [at, from] = [rows.indexOf(row), isRange ? rows.indexOf(anchor) : -1]
    const range = from < 0 ? [row] : rows.slice(Math.min(at, from), Math.max(at, from) + 1)
    anchor = row
    selectRows(range, isOn)
  }

  function selectRows(rows, isOn) {
    for (const { client } of rows) {
      if (isOn) selected.set(keyOf(client), client)
      else selected.delete(keyOf(client))
    }
    showSelection()
  }

  function selectAll() {
    selectRows(body.children, all.checked)
  }

  function selectNone() {
    selected.clear()
    showSelection()
  }

  function showSelection() {
    for (const row of body.children) row.check(selected.has(keyOf(row.client)))
    const listed = body.children.length
    all.checked = listed > 0 && selected.size >= listed
    all.indeterminate = selected.size > 0 && !all.checked
    const network = isNetwork(searched) ? searched.trim() : ''
    if (shownModel) bar.show(Array.from(selected.values()), network, shownModel)
  }

  function onNetwork(network) {
    go({ search: network })
  }

  function show(detail, model, route) {
    search.show(route.search)
    shownModel = model
    if (detail === undefined) return
    const isNewSearch = searched !== route.search
    searched = route.search
    const entries = detail.denied.map((client) => [keyOf(client), client])
    showRows(entries, isHeld() && !isNewSearch)
    table.hidden = body.children.length === 0
    setText(summary, summaryOf(detail, route.search))
    showSelection()
  }

  return { element, show, search: search.input }
}

const keyOf = ({ limitName, identity }) => `${limitName}\0${identity}`

/** Returns how many clients there are, and how many of them are listed. */
function summaryOf({ denied, deniedClients, matching = denied.length }, search) {
  if (deniedClients === 0) return 'No client was denied.'
  const listed = denied.length < matching ? `; the ${count(denied.length)} most denied are listed` : ''
  if (search !== '') return `${counted(matching, 'client')} found${listed}`
  return `${counted(deniedClients, 'client')}${listed}`
}
