import { announce, byId } from './dom.js'

const RETRY_MS = 1500
const listeners = []
let isUp = true

/** Whether the server responds. If it does not, the page says so, and retries until it does. */
export const connection = {
  get isUp() {
    return isUp
  },

  onChange(listener) {
    listeners.push(listener)
  },

  reportLost() {
    if (!isUp) return
    change(false)
    retry()
  },
}

function change(next) {
  isUp = next
  byId('offline').hidden = isUp
  announce(isUp ? 'The server is back.' : 'The server is not responding.')
  for (const listener of listeners) listener()
}

async function retry() {
  await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  try {
    await fetch('/code', { method: 'HEAD', cache: 'no-store' })
    change(true)
  } catch {
    retry()
  }
}
