import { LIMIT } from './charge-stores.js'
import { describeFakeTimers } from './describe-fake-timers.js'

describeFakeTimers(() => LIMIT)
