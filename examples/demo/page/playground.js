import { animate, createGauge } from './gauge.js'
import { createQuota } from './quota.js'
import { send } from './request.js'
import { showResponse } from './response-view.js'
import { createTimeline } from './timeline.js'

const byId = (id) => document.getElementById(id)
const showGauge = createGauge(byId('play-gauge'))
const timeline = createTimeline(byId('timeline'))
const streamButton = byId('stream')
const rate = byId('rate')
const counts = { sent: 0, allowed: 0, denied: 0 }

let policy = 'token-bucket'
let quota = createQuota()
let refreshTimer
let streamTimer

async function fire() {
  const requestedPolicy = policy
  const response = await send(`/play/${requestedPolicy}`)
  if (requestedPolicy !== policy) return // the user has picked another policy
  if (response.body) {
    const { allowed } = response.body
    timeline.addMark(allowed)
    count(allowed)
    recordDecision(response.body)
  }
  showResponse(byId('play-response'), response)
  if (response.status === 0) stopStream()
}

/** Peeks at the quota, which takes nothing. With DELETE the server forgets what was used first. */
async function refreshQuota(method = 'GET') {
  const requestedPolicy = policy
  const known = quota.decision
  const { body } = await send(`/play/${requestedPolicy}/quota`, { method })
  if (body && requestedPolicy === policy && known === quota.decision) recordDecision(body)
}

/** Records a decision, and peeks again when more quota returns, so the page never has to guess. */
function recordDecision(decision) {
  quota.record(decision)
  clearTimeout(refreshTimer)
  const { moreAfterMs } = decision
  if (moreAfterMs) refreshTimer = setTimeout(refreshQuota, moreAfterMs + 5)
}

function count(allowed) {
  counts.sent++
  counts[allowed ? 'allowed' : 'denied']++
  showCounts()
}

function showCounts() {
  for (const [name, value] of Object.entries(counts)) {
    document.querySelector(`[data-count=${name}]`).textContent = value
  }
}

function draw() {
  if (!quota.decision) return
  const { limit } = quota.decision
  const level = quota.level(policy)
  showGauge(level, limit, quota.note())
  timeline.draw(level / limit)
}

/** Updates screen readers at most every two seconds, and only after a change. */
let announced = 0
setInterval(() => {
  if (announced === counts.sent || !quota.decision) return
  announced = counts.sent
  const left = Math.floor(quota.level(policy))
  byId('summary').textContent =
    `${counts.sent} sent, ${counts.allowed} allowed, ${counts.denied} denied. ${left} of ${quota.decision.limit} left.`
}, 2000)

async function fireTen() {
  const picked = policy
  for (let i = 0; i < 10 && policy === picked; i++) await fire()
}

function startStream() {
  fire()
  keepFiring()
  showStream()
}

function keepFiring() {
  clearInterval(streamTimer)
  streamTimer = setInterval(fire, 1000 / rate.valueAsNumber)
}

function stopStream() {
  clearInterval(streamTimer)
  streamTimer = undefined
  showStream()
}

function showStream() {
  streamButton.textContent = streamTimer === undefined ? 'Start stream' : 'Stop stream'
  streamButton.classList.toggle('is-running', streamTimer !== undefined)
}

function showRate() {
  byId('rate-output').textContent = `${rate.value} per second`
  if (streamTimer !== undefined) keepFiring()
}

function startOver(method) {
  Object.assign(counts, { sent: 0, allowed: 0, denied: 0 })
  announced = 0
  showCounts()
  timeline.clear()
  clearTimeout(refreshTimer)
  quota = createQuota()
  refreshQuota(method)
}

function pick(name) {
  policy = name
  for (const code of document.querySelectorAll('pre[data-policy]')) code.hidden = code.dataset.policy !== name
  stopStream()
  startOver()
}

byId('send-one').addEventListener('click', fire)
byId('send-ten').addEventListener('click', fireTen)
byId('start-over').addEventListener('click', () => startOver('DELETE'))
streamButton.addEventListener('click', () => (streamTimer === undefined ? startStream() : stopStream()))
rate.addEventListener('input', showRate)
for (const radio of document.querySelectorAll('[name=policy]')) {
  radio.addEventListener('change', () => pick(radio.value))
}

// A browser that goes back to this page restores the form as it was left.
pick(document.querySelector('[name=policy]:checked').value)
showRate()
animate(draw)
