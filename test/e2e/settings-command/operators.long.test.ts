import { describeOperators } from './operators.js'

describeOperators(20)
