import { describeRefusedDumps, describeRestarts, describeSignals } from './describe-restarts.js'

describeRestarts(10, 1)
describeRefusedDumps()
describeSignals()
