import { changeActions } from './actions.js'
import { connectionStatus } from './connection.js'
import { el, setAttribute, setChildren } from './dom.js'
import { doneMessage } from './done-message.js'
import { editView } from './edit.js'
import { eventsView } from './events.js'
import { inForceView } from './in-force.js'
import { connectKeys } from './keys.js'
import { limiterView } from './limiter.js'
import { lookupView } from './lookup.js'
import { addEvents, applyFrame, createModel } from './model.js'
import { levelCounts } from './order.js'
import { outageBanner } from './outage-banner.js'
import { overview } from './overview.js'
import { processesView } from './processes.js'
import { addressOf, readRoute } from './route.js'
import { historyReader, readLog } from './server.js'
import { connectSinglePress } from './single-press.js'
import { openStream } from './stream.js'

const main = document.getElementById('main')
const problems = document.getElementById('problems')
const model = createModel()
const status = connectionStatus(document.getElementById('connection'))
const outages = outageBanner(document.getElementById('outages'), document.getElementById('announcement'))
const historyOf = historyReader(render)
const actions = changeActions(() => model.session)
const context = {
  go,
  actions,
  onDone: doneMessage(),
  historyOf,
  histories: () => historyOf(undefined),
  overviewAddress: () => overviewAddress,
}
const list = overview(context)
const lookAt = openStream({
  onFrame(frame) {
    applyFrame(model, frame)
    status.show(true)
    render()
  },
  onSession(session) {
    model.session = session
  },
  onLost: (problem) => status.show(false, problem),
})
/** The other views, which are created when they are first opened. */
const views = {
  client: () => lookupView(context),
  'in-force': () => inForceView(context),
  events: () => eventsView({ ...context, load: loadLog }),
  processes: processesView,
}
const created = new Map()
/** Where the overview was left: its address, and how far it was scrolled. */
let overviewAddress = '#/'
let overviewTop = 0
let route
let view
let isDrawing = false

async function loadLog() {
  addEvents(model, await readLog())
  render()
}

/** Changes the route in place: what is searched for while typing is not worth an entry in the history. */
function go(changes) {
  history.replaceState(null, '', addressOf({ ...route, ...changes }))
  open()
}

function viewOf({ view: name, name: limiter }) {
  if (name === '') return list
  if (name === 'edit') return editView(limiter, context)
  if (name === 'limiter') return { ...limiterView(limiter, context), limiter }
  if (!created.has(name)) created.set(name, views[name]())
  return created.get(name)
}

/** Opens what the address names. The overview stays beside a limiter where there is room for both. */
function open() {
  const before = route
  route = readRoute(location.hash)
  const isOther = before?.view !== route.view || before.name !== route.name
  if (isOther) {
    if (before?.view === '') [overviewAddress, overviewTop] = [addressOf(before), scrollY]
    view = viewOf(route)
    const isBeside = route.view === 'limiter'
    main.classList.toggle('is-split', isBeside)
    main.replaceChildren(...(isBeside ? [list.element, view.element] : [view.element]))
    view.open?.()
    showNavigation()
  }
  if (isOther || before.search !== route.search) model.detail = undefined // until the server has sent others
  const limiter = route.view === 'limiter' ? route.name : undefined
  lookAt({ limiter, search: limiter === undefined ? '' : route.search })
  draw()
  if (isOther && before !== undefined) arrive(before)
}

/** Puts the focus and the scrolling where a reader expects them in a view that was opened. */
function arrive(before) {
  if (route.view !== '') {
    scrollTo(0, 0)
    view.element.querySelector('h1')?.focus({ preventScroll: true })
    return
  }
  scrollTo(0, overviewTop)
  const row =
    before.view === 'limiter' && list.element.querySelector(`[data-limiter="${CSS.escape(before.name)}"] a`)
  row?.focus?.({ preventScroll: true })
}

function showNavigation() {
  for (const link of document.querySelectorAll('nav a')) {
    const { view: name } = readRoute(link.hash)
    const isHere = name === route.view || (name === '' && (route.view === 'limiter' || route.view === 'edit'))
    setAttribute(link, 'aria-current', isHere ? 'page' : undefined)
  }
}

/** Draws with the next frame of the screen; not at all while the page is hidden. */
function render() {
  if (isDrawing) return
  isDrawing = true
  requestAnimationFrame(draw)
}

const isWide = matchMedia('(min-width: 100rem)')

function draw() {
  isDrawing = false
  if (route === undefined) return
  outages.show(model, route)
  problems.hidden = model.problems.length === 0
  setChildren(problems, model.problems.join('\n'), () => model.problems.map((text) => el('p', {}, text)))
  if (view !== list && route.view === 'limiter' && isWide.matches)
    list.show(model, { ...route, state: '', search: '' })
  view.show(model, route)
  const { critical, warning } = levelCounts(model.rows.values())
  const wrong = critical + warning
  document.title = wrong > 0 ? `(${wrong}) Rate limits` : 'Rate limits'
  status.showTime(model.atMs)
}

function back() {
  if (route.view !== '') location.hash = overviewAddress
  else if (route.search || route.state) go({ search: '', state: '' })
}

connectSinglePress()
const showKeys = connectKeys({
  search: () => view.search,
  back,
  overview: () => {
    location.hash = '#/'
  },
})
document.getElementById('keys').addEventListener('click', showKeys)
document.getElementById('skip').addEventListener('click', (event) => {
  event.preventDefault() // the address names the view
  main.focus()
})
addEventListener('hashchange', open)
isWide.addEventListener('change', draw)
open()
