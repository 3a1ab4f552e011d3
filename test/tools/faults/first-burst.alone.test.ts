import { describeFirstBursts } from './first-burst.js'

describeFirstBursts(['Redis'])
