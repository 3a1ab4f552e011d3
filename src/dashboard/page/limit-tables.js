import { el, identity, table } from './dom.js'
import { count, percent, policy } from './format.js'
import { addressOf } from './route.js'

/** Returns the table of the limits of a limiter. */
export function limitTable(limits) {
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

/** Returns the table of the clients that have nearly used up a limit. */
export function nearTable(near) {
  if (near.length === 0)
    return el(
      'div',
      { class: 'empty' },
      el('h2', {}, 'Clients near a limit'),
      el('p', { class: 'quiet' }, 'No client has used 80% of a limit.'),
    )
  return table({
    caption: 'Clients near a limit',
    head: ['client', 'limit', 'left'],
    numbers: [2],
    rows: near.map((client) => [
      clientLink(client.identity),
      limitName(client.limitName, client.isLocal),
      `${count(client.remaining)} of ${count(client.limit)}`,
    ]),
  })
}

/** Returns a link to what all limiters hold of a client. */
export function clientLink(text) {
  return el('a', { href: addressOf({ view: 'client', search: text }), 'data-move': true }, identity(text))
}

/** Returns the name of a limit; a limit of the fallback store says so. */
function limitName(name, isLocal) {
  return isLocal ? el('span', {}, name, ' ', el('span', { class: 'badge is-local' }, 'local limit')) : name
}
