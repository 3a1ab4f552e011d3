import { describeRestarts } from './describe-restarts.js'

describeRestarts(10, 1)
