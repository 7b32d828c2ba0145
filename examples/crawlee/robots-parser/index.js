module.exports = require('robots-filter/robots-parser');
