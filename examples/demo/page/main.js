import './policies.js'
import './login.js'
import './outage.js'
import './terminal.js'
