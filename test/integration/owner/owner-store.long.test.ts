import { describeOwnerProcesses } from './owner-processes.js'

describeOwnerProcesses('all')
