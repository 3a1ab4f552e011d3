import { LIMIT } from './charge-stores.js'
import { describeFakeTimers } from './describe-fake-timers.js'

const IN_FULL = ['before the import', 'node:test after']

describeFakeTimers((way) => (IN_FULL.includes(way) ? LIMIT : 100))
