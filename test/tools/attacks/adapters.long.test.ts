import { describeAttacks } from './adapters/describe-attacks.js'
import { SITES } from './adapters/sites.js'

describeAttacks(SITES)
