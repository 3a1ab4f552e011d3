import { describeRefusedDumps, describeRestarts } from './describe-restarts.js'

describeRestarts(10, 1)
describeRefusedDumps()
