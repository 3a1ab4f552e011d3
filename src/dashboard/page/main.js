import { clock } from './format.js'
import { limiterCard } from './limiter-card.js'
import { lookupForm } from './lookup.js'
import { outageBanner } from './outage-banner.js'

const connection = document.getElementById('connection')
const holder = document.getElementById('limiters')
const lookUp = lookupForm(document.getElementById('lookup'), document.getElementById('found'))
const showOutages = outageBanner(document.getElementById('outages'))
const cards = new Map()

function cardOf(name) {
  let card = cards.get(name)
  if (card === undefined) {
    card = limiterCard(name, lookUp)
    cards.set(name, card)
    holder.append(card.card)
  }
  return card
}

function show(snapshot) {
  showOutages(snapshot.limiters)
  for (const limiter of snapshot.limiters) cardOf(limiter.name).show(limiter, snapshot)
}

let wasLive

function setConnection(isLive) {
  if (isLive === wasLive) return
  wasLive = isLive
  connection.textContent = isLive
    ? 'Live'
    : `Disconnected since ${clock(Date.now())}. The figures are out of date.`
  connection.classList.toggle('is-live', isLive)
}

const events = new EventSource('events')
events.addEventListener('message', ({ data }) => {
  show(JSON.parse(data))
  setConnection(true)
})
events.addEventListener('error', () => {
  setConnection(false)
  if (events.readyState === EventSource.CLOSED) setTimeout(() => location.reload(), 5000)
})
