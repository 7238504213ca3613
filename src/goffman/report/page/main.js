/* The report comes to life. */

startPage();
startLinks();
startExplorer();
