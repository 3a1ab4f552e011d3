import { count, counted, moment } from './format.js'

/** Returns how the calls of a limiter to its store went lately; '' if there is nothing to say. */
export function storeText({ calls, failures, medianMs, p99Ms, keys }) {
  const parts = [
    medianMs !== undefined && `half of them within ${latency(medianMs)}, 99% within ${latency(p99Ms)}`,
    failures > 0 && `${count(failures)} failed`,
  ]
  const texts = [
    calls > 0 && [`${counted(calls, 'call')} in the last minute`, ...parts.filter(Boolean)].join(', '),
    keys !== undefined && `${counted(keys, 'key')} in memory`,
  ]
  return texts.filter(Boolean).join('; ')
}

function latency(ms) {
  return `${ms < 10 ? Number(ms.toPrecision(2)) : count(Math.round(ms))} ms`
}

/** Returns what a candidate would have done, compared with the limits in force. */
export function candidateText({ sinceMs, requests, clients, newlyDenied, newlyAllowed, failed }, nowMs) {
  if (requests === 0) return `It has decided no requests since ${moment(sinceMs, nowMs)}.`
  const changes = [
    newlyDenied > 0 && `denied ${count(newlyDenied)} that were allowed`,
    newlyAllowed > 0 && `allowed ${count(newlyAllowed)} that were denied`,
  ].filter(Boolean)
  const what =
    changes.length === 0 ? 'made the same decisions as the limits in force' : changes.join(', and ')
  const of = `Of ${counted(requests, 'request')} from ${counted(clients, 'client')} since ${moment(sinceMs, nowMs)}`
  const failures = failed > 0 ? ` It could not decide ${counted(failed, 'request')}.` : ''
  return `${of}, it would have ${what}.${failures}`
}
