import { describeFaults, faultsOf, STORES } from './describe-faults.js'

for (const [name, scene, losses] of STORES) describeFaults(name, scene, faultsOf(name, losses))
