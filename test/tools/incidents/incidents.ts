import { accountAttacked, addressesRotated, credentialsStuffed, planTooSmall, scraped } from './attacks.js'
import { processCutOff, processDied, processesDeployed, storeFrozen, storeSlow } from './failures.js'
import type { Incident } from './incident.js'
import { limitLowered } from './mistakes.js'

export const INCIDENTS: readonly Incident[] = [
  scraped,
  accountAttacked,
  credentialsStuffed,
  addressesRotated,
  planTooSmall,
  limitLowered,
  storeFrozen,
  storeSlow,
  processCutOff,
  processDied,
  processesDeployed,
]
