import { trafficChart } from './chart.js'
import { el, identity, table } from './dom.js'
import { clientCount, count, latency, percent, policy, rate } from './format.js'

/** Creates the card of a limiter. `onPick` is called with an identity that was clicked. */
export function limiterCard(name, onPick) {
  const mode = el('span', { class: 'badge' }, '')
  const processes = el('span', { class: 'quiet' }, '')
  const figures = el('dl', { class: 'figures' })
  const holder = el('div', {
    class: 'chart',
    role: 'img',
    'aria-label': `Requests per second to ${name}, last 15 minutes`,
  })
  const lists = el('div', { class: 'lists' })
  const titleId = `limiter-${name}`
  const card = el(
    'section',
    { class: 'card limiter', 'aria-labelledby': titleId, 'data-limiter': name },
    el('div', { class: 'title' }, el('h2', { id: titleId }, name), mode, processes),
    figures,
    holder,
    lists,
  )
  const showChart = trafficChart(holder)
  const updateLists = keepPlace(lists)

  function show(limiter, { slotMs }) {
    mode.textContent = limiter.mode === 'report' ? 'report mode: no request is denied' : 'enforcing'
    mode.classList.toggle('is-report', limiter.mode === 'report')
    processes.textContent = limiter.processes > 1 ? `${count(limiter.processes)} processes` : 'this process'
    figures.replaceChildren(...figuresOf(limiter))
    showChart({ traffic: limiter.traffic, slotMs })
    updateLists([
      limitTable(limiter),
      nearTable(limiter, onPick),
      deniedTable(limiter, onPick),
      ...(limiter.candidate ? [candidatePanel(limiter.candidate, onPick)] : []),
    ])
  }

  return { card, show }
}

/** Returns a function that replaces the children of a list, and leaves the focus and the scrolling as they are. */
function keepPlace(list) {
  let shown = ''
  const groups = () => Array.from(list.querySelectorAll('.scroll'))
  const labelOf = (group) => group?.getAttribute('aria-label')

  function isSelecting() {
    const selection = getSelection()
    return selection !== null && !selection.isCollapsed && list.contains(selection.anchorNode)
  }

  return (children) => {
    const html = children.map((child) => child.outerHTML).join('')
    if (html === shown || isSelecting()) return
    shown = html
    const focused = list.contains(document.activeElement) ? document.activeElement : undefined
    const focusedGroup = labelOf(focused?.closest('.scroll'))
    const scrolled = new Map(groups().map((each) => [labelOf(each), [each.scrollLeft, each.scrollTop]]))
    list.replaceChildren(...children)
    for (const group of groups()) {
      group.scrollTo(...(scrolled.get(labelOf(group)) ?? [0, 0]))
      if (focused && labelOf(group) === focusedGroup) focusIn(group, focused.dataset.pick)
    }
  }
}

/** Focuses the client of this name in a table; the table where it is not there any more. */
function focusIn(group, name) {
  const client = name === undefined ? null : group.querySelector(`[data-pick="${CSS.escape(name)}"]`)
  const target = client ?? group
  target.focus({ preventScroll: true })
}

function figuresOf({ traffic, store }) {
  const { allowed, denied } = traffic.perSecond
  const figure = (name, value, tone) => el('div', { class: tone }, el('dt', {}, name), el('dd', {}, value))
  const shown = [
    figure('allowed per second', rate(allowed)),
    figure('denied per second', rate(denied), denied > 0 ? 'is-denied' : undefined),
    figure('denied', percent(allowed + denied === 0 ? 0 : denied / (allowed + denied))),
    figure('store', storeText(store), store.state === 'closed' ? undefined : 'is-denied'),
  ]
  if (store.keys !== undefined) shown.push(figure('keys stored', count(store.keys)))
  if (store.p99Ms !== undefined)
    shown.push(figure('store latency', `median ${latency(store.medianMs)}, p99 ${latency(store.p99Ms)}`))
  if (store.failures > 0)
    shown.push(figure('failed calls', `${count(store.failures)} of ${count(store.calls)}`, 'is-denied'))
  if (store.problem !== undefined) shown.push(figure('this process only', store.problem, 'is-denied'))
  return shown
}

function storeText({ name, state }) {
  return state === 'closed' ? `${name}, up` : `${name}, unavailable`
}

function limitTable({ limits }) {
  return table({
    caption: 'Limits, last minute',
    head: ['limit', 'allows', 'allowed', 'denied', 'peak use'],
    numbers: [2, 3, 4],
    rows: limits.map((limit) => [
      limitName(limit.name, limit.isLocal),
      policy(limit),
      count(limit.allowed),
      count(limit.denied),
      percent(Math.min(1, Math.max(0, limit.peak))),
    ]),
  })
}

/** Returns the name of a limit; a limit of the fallback store says so. */
function limitName(name, isLocal) {
  return isLocal ? el('span', {}, name, ' ', el('span', { class: 'badge is-local' }, 'local limit')) : name
}

function pick(text, onPick) {
  return el(
    'button',
    { type: 'button', class: 'pick', 'data-pick': text, onclick: () => onPick(text) },
    identity(text),
  )
}

function nearTable({ near }, onPick) {
  if (near.length === 0) return empty('Clients near a limit', 'No client has used 80 % of a limit.')
  return table({
    caption: 'Clients near a limit',
    head: ['client', 'limit', 'left'],
    numbers: [2],
    rows: near.map((client) => [
      pick(client.identity, onPick),
      limitName(client.limitName, client.isLocal),
      `${count(client.remaining)} of ${count(client.limit)}`,
    ]),
  })
}

function deniedTable({ denied }, onPick) {
  if (denied.length === 0) return empty('Most denied, last 15 minutes', 'No client was denied.')
  return table({
    caption: 'Most denied, last 15 minutes',
    head: ['client', 'limit', 'denied'],
    numbers: [2],
    rows: denied.map((client) => [pick(client.identity, onPick), client.limitName, count(client.denied)]),
  })
}

function candidatePanel(candidate, onPick) {
  const { requests, clients, denied, deniedClients, newlyDenied, newlyAllowed } = candidate
  const share = requests === 0 ? 0 : denied / requests
  return el(
    'div',
    { class: 'candidate' },
    el('h3', {}, 'Candidate limits'),
    el(
      'p',
      {},
      `The candidate would have denied ${count(denied)} of ${count(requests)} requests (${percent(share)}), ` +
        `from ${clientCount(deniedClients)} of ${clientCount(clients)} clients. ` +
        `The current limits allowed ${count(newlyDenied)} of these, ` +
        `and denied ${count(newlyAllowed)} that the candidate would have allowed.`,
    ),
    table({
      caption: 'Limits of the candidate',
      isCaptionHidden: true,
      head: ['limit', 'denied', 'clients', 'most denied'],
      numbers: [1, 2],
      rows: candidate.limits.map(({ name, denied, deniedClients, mostDenied }) => [
        name,
        count(denied),
        clientCount(deniedClients),
        el('span', {}, ...mostDenied.slice(0, 3).map((client) => pick(client.identity, onPick))),
      ]),
    }),
  )
}

function empty(title, text) {
  return el('div', { class: 'empty' }, el('h3', {}, title), el('p', { class: 'quiet' }, text))
}
