import { undoOf } from './change-made.js'
import { el, setChildren, setText } from './dom.js'
import { clock, counted, spelled, withTimes } from './format.js'
import { addressOf } from './route.js'
import { searchField } from './toolbar.js'

/** What the kinds of events are called, and which of them are bad news. */
const KINDS = {
  breaker: 'store',
  'process-seen': 'process',
  'process-closed': 'process',
  'process-gone': 'process gone',
  block: 'block',
  release: 'release',
  settings: 'settings',
  mode: 'mode',
  candidate: 'candidate',
  'limits-lost': 'limits lost',
  tune: 'tune',
}
/** The most events that are listed at a time; the search reaches the others. */
const MAX_LISTED = 300

/** Creates the view of what has happened. `load` reads all events that are kept. */
export function eventsView({ go, load, ...context }) {
  const search = searchField('Filter events', (text) => go({ search: text }))
  const title = el('p', { class: 'lead' })
  const days = el('div', { class: 'days' })
  const lines = el('a', { class: 'button', href: 'log', download: 'headgate-events.jsonl' }, 'JSON lines')
  const element = el(
    'section',
    { class: 'page', 'aria-labelledby': 'events-title' },
    el('h1', { id: 'events-title', tabindex: '-1' }, 'Events'),
    el('div', { class: 'toolbar' }, title, el('span', { class: 'grow' }), search.element, lines),
    days,
  )

  function show({ events, isKnown, session: { canChange } }, route) {
    search.show(route.search)
    const shown = found(events, route.search).toReversed()
    const listed = shown.slice(0, MAX_LISTED)
    const rest = shown.length > listed.length ? `; the latest ${MAX_LISTED} are listed` : ''
    setText(title, isKnown ? `${counted(shown.length, 'event')}${rest}.` : 'Waiting for the first figures…')
    const key = `${canChange}/${route.search}/${listed.length}/${listed[0]?.id}/${listed.at(-1)?.id}`
    const undo = canChange && context
    setChildren(days, key, () => byDay(listed).map(([day, ofDay]) => dayList(day, ofDay, undo)))
  }

  return { element, show, search: search.input, open: load }
}

/** Returns a list of events, newest first. With what makes changes, `undo`, changes can be undone. */
export function eventList(events, undo) {
  return el('ol', { class: 'events', reversed: true }, ...events.map((event) => eventItem(event, undo)))
}

function eventItem(event, undo) {
  const { atMs, kind, text, limiter, by, reason } = event
  const why = [by && `by ${spelled(by)}`, reason && `“${spelled(reason)}”`].filter(Boolean).join(', ')
  return el(
    'li',
    { class: `event is-${kind}` },
    el('time', { datetime: new Date(atMs).toISOString() }, clock(atMs)),
    el('span', { class: 'badge' }, KINDS[kind] ?? kind),
    el(
      'span',
      { class: 'text' },
      limiter !== undefined && el('a', { href: addressOf({ view: 'limiter', name: limiter }) }, limiter),
      limiter !== undefined && ': ',
      el('bdi', {}, withTimes(text)),
      why && el('span', { class: 'quiet' }, ` ${why}`),
    ),
    undo && undoOf(event, undo),
  )
}

function dayList(day, events, undo) {
  return el('section', { class: 'day' }, el('h2', {}, day), eventList(events, undo))
}

function byDay(events) {
  const days = new Map()
  for (const event of events) {
    const options = { weekday: 'long', day: 'numeric', month: 'long' }
    const day = new Date(event.atMs).toLocaleDateString('en-GB', options)
    days.set(day, [...(days.get(day) ?? []), event])
  }
  return [...days]
}

function found(events, search) {
  const text = search.trim().toLowerCase()
  if (text === '') return events
  return events.filter(({ kind, text: words, limiter = '', by = '', reason = '' }) =>
    [kind, KINDS[kind] ?? '', words, limiter, by, reason].some((each) => each.toLowerCase().includes(text)),
  )
}
